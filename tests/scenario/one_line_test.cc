// one_line_test: the command line makes the same Scenario as a file would.
#include "harness/scenario/one_line.h"

#include <gmock/gmock.h>

#include "harness/scenario/scenario_tree.h"
#include "harness/scenario/validate.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Scenario> with_fault(const std::string& fault) {
  return scenario_from_command_line(4, "", {fault}, {}, {"prog", "-x"});
}
std::string mistake(const std::string& fault) {
  const Result<Scenario> scenario = with_fault(fault);
  return scenario.ok() ? "" : scenario.error().to_string();
}

TEST(OneLine, PutsEachKeyWhereItBelongs) {
  const Result<Scenario> scenario = with_fault(
      "rank_kill@rank=3,op=all_reduce,nth=40,comm={size: 2, has_rank: 3},id=k,signal=TERM,optional=true");
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
  const FaultSpec& fault = scenario->faults.at(0);
  EXPECT_EQ(fault.id, "k");
  EXPECT_EQ(fault.kind, "rank_kill");
  EXPECT_THAT(fault.ranks.ranks, ElementsAre(3));
  EXPECT_EQ(fault.at.op, "all_reduce");
  EXPECT_EQ(fault.at.nth, 40);
  EXPECT_EQ(fault.at.comm.size, 2);
  EXPECT_EQ(fault.params.find("signal")->text, "TERM");
  EXPECT_TRUE(fault.optional);
  EXPECT_THAT(scenario->workload.command, ElementsAre("prog", "-x"));
  EXPECT_EQ(scenario->workload.launcher, LauncherKind::kLocal);
}

TEST(OneLine, APathIsTheKindsOwnWhereItHasOne) {
  EXPECT_EQ(with_fault("rank_kill@rank=0,file_op=rename,path=*.tmp")->faults.at(0).at.path, "*.tmp");
  const FaultSpec unlink = with_fault("shm_unlink@rank=0,file_op=shm_attach,path=/dev/shm/x*")->faults.at(0);
  EXPECT_EQ(unlink.at.path, "");
  EXPECT_EQ(unlink.params.find("path")->text, "/dev/shm/x*");
}

TEST(OneLine, ExpectsWhatIsAskedForElseTheObvious) {
  const Result<Scenario> asked =
      scenario_from_command_line(4, "mpirun", {}, {"blamed: {kind: none}", "finished: {}"}, {"p"}, "5s");
  ASSERT_TRUE(asked.ok()) << asked.error().to_string();
  EXPECT_EQ(asked->expect.size(), 2u);
  EXPECT_EQ(asked->workload.limits.wall, std::chrono::seconds(5));
  const Result<Scenario> fault = with_fault("rank_kill@rank=1,op=barrier");
  EXPECT_EQ(fault->expect.at(0).oracle, "unblocked");
  EXPECT_EQ(fault->expect.at(0).params.find("after")->text, "rank_kill");
  EXPECT_EQ(fault->expect.at(1).oracle, "left_nothing");
  EXPECT_TRUE(validate(*fault).empty());
  const Result<Scenario> none = scenario_from_command_line(4, "", {}, {}, {"p"});
  EXPECT_EQ(none->expect.at(0).oracle, "blamed");
  EXPECT_TRUE(validate(*none).empty());
}

TEST(OneLine, PlacesMistakesOnTheCommandLine) {
  EXPECT_EQ(mistake("rank_kill@rank=x,op=barrier"),
            "--fault:1:16: ranks must be a rank, a range such as 8-15, or one of all, victims, others and "
            "survivors, not \"x\"");
  EXPECT_EQ(mistake("rank_kill@rank=1,op=barier"),
            "--fault:1:21: unknown op \"barier\" (did you mean \"barrier\"?)");
  EXPECT_EQ(mistake("rank_kill@rank=1,nth"), "--fault:1:18: \"nth\" must be key=value");
  EXPECT_EQ(mistake("@rank=1"), "--fault:1:1: write a fault as KIND@key=value,key=value");
  EXPECT_EQ(mistake("rank_kill@rank=1,rank=2"), "--fault:1:18: duplicate key \"rank\"");
  EXPECT_EQ(mistake("rank_kill"), "--fault:1:1: a fault needs \"ranks\"");
  const ParsedScenario two = parse_command_line(2, "", {"rank_kill", "rank_kill@nth"}, {}, {"p"});
  ASSERT_FALSE(two.errors.empty());
  EXPECT_EQ(two.errors[0].where.file, "--fault#2") << "which of the two";
  std::vector<std::string> all;
  for (const Error& error : all_mistakes(parse_command_line(
           4, "", {"rnak_kill@rank=1,op=barrier", "rank_kill@rank=x,op=barrier"}, {"unbloked: {}"}, {"p"})))
    all.push_back(error.to_string());
  EXPECT_THAT(all, testing::UnorderedElementsAre(
                       HasSubstr("--fault#1:1:1: unknown fault kind \"rnak_kill\" (did you mean"),
                       HasSubstr("--fault#2:1:16: ranks must be a rank"),
                       HasSubstr("--expect:1:1: unknown oracle \"unbloked\" (did you mean")));
  EXPECT_FALSE(scenario_from_command_line(0, "", {}, {}, {"p"}).ok());
  EXPECT_FALSE(scenario_from_command_line(2, "", {}, {}, {}).ok());
  EXPECT_FALSE(scenario_from_command_line(2, "", {}, {"finished: ["}, {"p"}).ok());
}

}  // namespace
}  // namespace rankfault
