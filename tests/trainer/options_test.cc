// Options tests: every switch turns off one defence, and unknown options are refused.
#include "workloads/trainer/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainer {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Options, DefencesAreOnUntilSwitchedOff) {
  const Options options = parse_options({}).options;
  for (bool on : {options.sequence_check, options.fsync, options.rename, options.checksum, options.resume}) {
    EXPECT_TRUE(on);
  }
  EXPECT_TRUE(options.error_flag == ErrorFlag::kAlways);
  EXPECT_TRUE(options.collective_timeout.has_value());
}

TEST(Options, MistakesAreOffUntilSwitchedOn) {
  const Options options = parse_options({}).options;
  EXPECT_FALSE(options.swallow_local_errors || options.broadcast_on_rank_0_only ||
               options.leaders_call_world);
  EXPECT_EQ(options.bad_sample.rank, -1);
  EXPECT_EQ(options.jumped_step.rank, -1);
  EXPECT_TRUE(options.axes_reversed_on.empty());
  EXPECT_TRUE(parse_options({"--leaders-call-world"}).options.leaders_call_world);
}

TEST(Options, ReadsPlacesGridsAndWords) {
  const Options options = parse_options({"--bad-sample=10:2", "--grid=4x2x3", "--end-of-data=join",
                                         "--error-flag=when-failed", "--axes-reversed-on=1,2"})
                              .options;
  EXPECT_TRUE(options.bad_sample.is(10, 2));
  EXPECT_EQ(options.axes_reversed_on, (std::vector<int>{1, 2}));
  EXPECT_EQ(options.grid, (std::array<int, 3>{4, 2, 3}));
  EXPECT_TRUE(options.end_of_data == EndOfData::kJoin);
  EXPECT_TRUE(options.error_flag == ErrorFlag::kWhenFailed);
  EXPECT_TRUE(parse_options({"--no-error-flag"}).options.error_flag == ErrorFlag::kNever);
}

TEST(Options, ReadsWhatARealModelWouldTake) {
  const Options options = parse_options({"--sample-memory=4096", "--compute=150ms:0"}).options;
  EXPECT_EQ(options.step.sample_memory, 4096u);
  EXPECT_EQ(options.step.compute_time, 150ms);
  EXPECT_EQ(options.step.compute_rank, 0);
  EXPECT_EQ(parse_options({}).options.step.compute_rank, -1);
  for (const char* bad : {"--compute=150ms", "--compute=150ms:-1", "--compute=150ms:x", "--compute=0ms:1",
                          "--compute=:1", "--sample-memory=0"})
    EXPECT_NE(parse_options({bad}).error, "") << bad;
}

TEST(Options, ASwitchTurnsOffOnlyItself) {
  const std::vector<std::pair<const char*, bool Options::*>> switches = {
      {"--no-sequence-check", &Options::sequence_check},
      {"--no-fsync", &Options::fsync},
      {"--no-stop-on-error", &Options::stop_on_error},
      {"--no-rename", &Options::rename},
      {"--no-checksum", &Options::checksum},
      {"--no-resume", &Options::resume},
  };
  for (const auto& [name, member] : switches) {
    const ParsedOptions parsed = parse_options({name});
    EXPECT_EQ(parsed.error, "");
    for (const auto& [other, other_member] : switches) {
      EXPECT_EQ(parsed.options.*other_member, other != name) << name << " and " << other;
    }
  }
}

TEST(Options, ReadsDurations) {
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("2m"), 120'000ms);
  for (const char* bad : {"", "1", "s", "-1s", "1.5s", "1h", "1 s"}) EXPECT_FALSE(parse_duration(bad)) << bad;
  EXPECT_FALSE(parse_options({"--collective-timeout=none"}).options.collective_timeout.has_value());
  EXPECT_FALSE(parse_options({}).options.join_timeout.has_value());
  EXPECT_EQ(parse_options({"--join-timeout=3s"}).options.join_timeout, std::chrono::seconds(3));
}

TEST(Options, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(parse_options({"--stps=3"}).error, HasSubstr("unknown option --stps=3"));
  for (const char* bad :
       {"--steps", "--steps=x", "--steps=-1", "--batch=0", "--store=", "--collective-timeout=0s",
        "--no-fsync=1", "steps", "--grid=4x2", "--grid=4x2x2x1", "--grid=0x1x1", "--bad-sample=3",
        "--bad-sample=0:1", "--end-of-data=stop", "--float=1"}) {
    EXPECT_NE(parse_options({bad}).error, "") << bad;
  }
}

}  // namespace
}  // namespace trainer
