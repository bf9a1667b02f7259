// Options tests: every switch turns off one defence, and nothing unknown is accepted.
#include "scenarios/trainer/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainer {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Options, DefencesAreOnUntilSwitchedOff) {
  const Options options = parse_options({}).options;
  for (bool on : {options.sequence_check, options.error_flag, options.fsync, options.rename, options.checksum,
                  options.resume}) {
    EXPECT_TRUE(on);
  }
  EXPECT_TRUE(options.collective_timeout.has_value());
}

TEST(Options, ASwitchTurnsOffOnlyItself) {
  const std::vector<std::pair<const char*, bool Options::*>> switches = {
      {"--no-sequence-check", &Options::sequence_check},
      {"--no-error-flag", &Options::error_flag},
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
}

TEST(Options, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(parse_options({"--stps=3"}).error, HasSubstr("unknown option --stps=3"));
  for (const char* bad : {"--steps", "--steps=x", "--steps=-1", "--batch=0", "--backend=nccl",
                          "--store=", "--collective-timeout=0s", "--no-fsync=1", "steps"}) {
    EXPECT_NE(parse_options({bad}).error, "") << bad;
  }
}

}  // namespace
}  // namespace trainer
