// reproduce from Flight Recorder dumps: each way in which a rank of a 3-D job breaks becomes a scenario that
// blames this rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/flight_recorder/write_dump.h"
#include "harness/reproduce/reproduce.h"
#include "harness/scenario/scenario_parser.h"
#include "tests/support/synthetic_dumps.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

using Broken = SyntheticJob::Broken;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SyntheticJob broken(Broken how) {
  SyntheticJob job;
  job.tensor = 4;
  job.pipeline = 2;
  job.data = 4;
  job.broken = how;
  job.culprits = {13};
  return job;
}

Understood understood(const SyntheticJob& job) {
  const test::Scratch scratch;
  for (const FrDump& dump : synthetic_dumps(job))
    EXPECT_TRUE(write_dump(scratch.path(), "_dump_", dump).ok());
  const Result<EvidenceFiles> files = evidence_files({scratch.path()});
  EXPECT_TRUE(files.ok());
  Result<Understood> u = understand(*files, {});
  EXPECT_TRUE(u.ok()) << u.error().to_string();
  return std::move(*u);
}

// The blamed ranks, with their numbers in the dumps.
std::vector<int> culprits_of(const Case& small) {
  std::vector<int> ranks;
  for (const int r : small.state.culprits) ranks.push_back(small.folded_from[static_cast<size_t>(r)]);
  return ranks;
}

struct Told {
  Broken how;
  const char* state;    // the kind of the case
  const char* written;  // how the scenario breaks the small job
};
std::ostream& operator<<(std::ostream& out, const Told& told) { return out << name_of(told.how); }

class BrokenDumps : public ::testing::TestWithParam<Told> {};

TEST_P(BrokenDumps, BecomeAScenarioThatBlamesTheRank) {
  const Understood u = understood(broken(GetParam().how));
  EXPECT_EQ(u.small.state.kind, GetParam().state);
  EXPECT_THAT(culprits_of(u.small), ElementsAre(13));
  const Result<Written> written = write_scenario(u.small, u.digest, {});
  ASSERT_TRUE(written.ok()) << written.error().to_string();
  EXPECT_THAT(written->text, HasSubstr(GetParam().written));
  const Result<Scenario> parsed = parse_scenario(written->text, "small.yaml");
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(OneRank, BrokenDumps,
                         ::testing::Values(Told{Broken::kHostStuck, "stuck_outside", "kind: delay_call"},
                                           Told{Broken::kDeviceStuck, "stuck_outside", "kind: delay_call"},
                                           Told{Broken::kTeardown, "stuck_outside", "kind: delay_call"},
                                           Told{Broken::kNoDump, "stuck_outside", "kind: delay_call"},
                                           Told{Broken::kSkipped, "missing_call", "kind: skip_call"},
                                           Told{Broken::kOtherSize, "call_mismatch",
                                                "blamed: {kind: call_mismatch"}),
                         [](const auto& tested) { return name_of(tested.param.how); });

TEST(Dumps, OfAHealthyJobShowNoHang) {
  const Understood u = understood(broken(Broken::kNothing));
  EXPECT_FALSE(u.whole.state.hangs()) << u.whole.state.text;
}

}  // namespace
}  // namespace rankfault::testing
