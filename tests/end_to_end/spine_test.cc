// spine_test: one fault, from the scenario file to the exit code, on a real Gloo job.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/end_to_end/jobs.h"
#include "tests/scenario/schema_check.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

const char* kKillAtThird = "{id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 3}}";
const char* kKillExpected =
    "  - blamed: {kind: dead_rank, ranks: [2], op: all_reduce}\n"
    "  - unblocked: {ranks: all, within: 5s, after: kill}\n"
    "  - ended: {ranks: all, exit: nonzero}\n"
    "  - left_nothing: [processes, shm, sockets, temp_files]\n";

class Spine : public testing::Test {
 protected:
  // Runs the text as a scenario file and keeps the run directory.
  ToolRun run(const std::string& text, const std::map<std::string, std::string>& env = {}) {
    const std::string file = scratch_.write("scenario.yaml", text);
    return run_tool({"run", file, "--run-dir", run_dir()}, env);
  }
  std::string run_dir() const { return scratch_.file("run"); }

  Scratch scratch_;
};

TEST_F(Spine, TheJunitCaseOfAMutationSaysThatItWasNotDetected) {
  const std::string file = scratch_.write(
      "scenario.yaml", gloo_job({.fault = kKillAtThird,
                                 .expect = kKillExpected,
                                 .more = "teeth:\n  - {env: {NOTHING: \"1\"}, must_fail: unblocked}\n"}));
  const std::string junit = scratch_.file("results.xml");
  const ToolRun tool = run_tool({"run", "--teeth", file, "--runs", scratch_.file("runs"), "--junit", junit});
  EXPECT_EQ(tool.status, 1) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("NOT DETECTED"));
  EXPECT_THAT(read_file(junit), HasSubstr("message=\"the mutation was not detected: "));
  EXPECT_THAT(read_file(junit), testing::Not(HasSubstr("time=\"0.000\"")));
}

TEST_F(Spine, NamesTheKilledRankTheOpAndTheSequenceNumberAsProven) {
  const ToolRun tool = run(gloo_job({.fault = kKillAtThird, .expect = kKillExpected}));
  EXPECT_EQ(tool.status, 0) << tool.output;
  const auto findings = findings_of(run_dir());
  ASSERT_FALSE(findings.empty()) << tool.output;
  EXPECT_EQ(findings[0]["kind"], "dead_rank");
  EXPECT_EQ(findings[0]["ranks"], Json({2}));
  EXPECT_EQ(findings[0]["op"], "all_reduce");
  EXPECT_EQ(findings[0]["confidence"], "proven");
  EXPECT_EQ(findings[0]["seq"], (Json{{"from", 3}, {"to", 3}}));
}

TEST_F(Spine, TheResultFollowsTheShippedSchema) {
  const ToolRun tool = run(gloo_job({.fault = kKillAtThird, .expect = kKillExpected}));
  EXPECT_EQ(tool.status, 0) << tool.output;
  const Json schema = Json::parse(read_file(source_dir() + "/docs/reference/result.v1.schema.json"));
  EXPECT_EQ(schema_mistake(closed(schema), Json::parse(read_file(run_dir() + "/result.json"))), "");
}

TEST_F(Spine, LeavesALogOfWhatTheToolSawAndDecided) {
  const ToolRun tool = run(gloo_job({.fault = kKillAtThird, .expect = kKillExpected}));
  const std::string log = read_file(run_dir() + "/tool.log");
  for (const char* part : {"run_begin: scenario=", "fault_intent: fault=kill", "rank_end: ", "value=9",
                           "finding=dead_rank: rank 2 was ended by SIGKILL", "verdict: pass"})
    EXPECT_THAT(log, testing::HasSubstr(part)) << tool.output;
  EXPECT_THAT(tool.output, testing::Not(testing::HasSubstr("run_begin"))) << "the log is not asked for";
}

TEST_F(Spine, FindsTheSameWithoutTheKernelsExitInformation) {
  const ToolRun tool =
      run(gloo_job({.fault = kKillAtThird, .expect = kKillExpected}), {{"RANKFAULT_NO_PIDFD_INFO", "1"}});
  EXPECT_EQ(tool.status, 0) << tool.output;
}

TEST_F(Spine, AHealthyJobPassesWithNobodyBlamed) {
  const ToolRun tool =
      run(gloo_job({.expect = "  - blamed: {kind: none}\n  - ended: {ranks: all, exit: zero}\n"}));
  EXPECT_EQ(tool.status, 0) << tool.output;
}

// Rank 0, which the others ask for the communicator's name, runs without the agent. The others must not wait
// for it, and the diagnosis must not report on a job that it saw only in part.
TEST_F(Spine, ARankWithoutTheAgentCostsTheOthersNothingAndIsNotTakenForWell) {
  std::string text = gloo_job({.expect = "  - finished\n  - blamed: {kind: none}\n"});  // its limit is 1 s
  const size_t at = text.find("command: [");
  text.insert(at + 10, "sh, \"-c\", 'if [ $RANK = 0 ]; then unset LD_PRELOAD; fi; exec \"$@\"', rank, ");
  const ToolRun tool = run(text);
  EXPECT_EQ(tool.status, 2) << tool.output;
  EXPECT_THAT(tool.output, testing::HasSubstr("exited 0"));
  EXPECT_THAT(tool.output, testing::HasSubstr("rank 0 has no call on record"));
}

// The tool may have priority over its ranks on a processor. The ranks must not inherit it, in any attempt.
TEST_F(Spine, TheRanksRunAtThePriorityTheToolWasGiven) {
  const std::string nice = std::to_string(::getpriority(PRIO_PROCESS, 0));
  const ToolRun tool =
      run("version: 1\nname: priority\nworkload:\n  launcher: local\n  ranks: 2\n  restarts: 1\n"
          "  command: [sh, \"-c\", 'sleep 0.1; test $(nice) = " +
          nice + " || exit 9; exit $((1 - {attempt}))']\nexpect:\n  - finished\n");
  EXPECT_EQ(tool.status, 0) << tool.output;
}

// The thread that reads, diagnoses and writes never has priority over them. Field 41 of stat is the policy: 1
// is SCHED_FIFO. The grandparent of a rank is the tool.
TEST_F(Spine, NoThreadOfTheToolThatWorksHasRealTimePriority) {
  const std::string text =
      "version: 1\nname: priority\nworkload:\n  launcher: local\n  ranks: 1\n  command: [sh, \"-c\", "
      "'tool=$(cut -d\" \" -f4 /proc/$PPID/stat); test $(cut -d\" \" -f41 /proc/$tool/stat) = 0 || exit 9; "
      "cat /proc/$tool/task/*/stat | cut -d\" \" -f41 | sort | uniq -c']\nexpect:\n  - finished\n";
  const std::string file = scratch_.write("scenario.yaml", text);
  EXPECT_EQ(run_tool({"run", file, "--run-dir", run_dir()}).status, 0);
  const std::string without = scratch_.file("without");
  EXPECT_EQ(run_tool({"run", file, "--no-realtime", "--run-dir", without}).status, 0);
  EXPECT_THAT(read_file(without + "/logs/rank-0.a0.log"), testing::HasSubstr(" 4 0\n"));  // all four threads
}

// Nothing was launched, so nothing is left, not even the run directory.
TEST_F(Spine, AMissingProgramLeavesNoRunDirectory) {
  std::string text = gloo_job({});
  text.replace(text.find("gloo_all_reduce"), 15, "no_such_program");
  const ToolRun tool = run(text);
  EXPECT_EQ(tool.status, 64) << tool.output;
  EXPECT_THAT(tool.output, testing::HasSubstr("scenario.yaml:"));
  EXPECT_EQ(read_file(run_dir() + "/journal.ndjson"), "");
}

TEST_F(Spine, AWrongExpectationFailsWithExitCode1) {
  const ToolRun tool =
      run(gloo_job({.fault = kKillAtThird, .expect = "  - blamed: {kind: dead_rank, ranks: [1]}\n"}));
  EXPECT_EQ(tool.status, 1) << tool.output;
}

TEST_F(Spine, AFaultThatNeverFiresIsVoidWithExitCode2) {
  const ToolRun tool =
      run(gloo_job({.fault = "{id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 300}}",
                    .expect = "  - ended: {ranks: all, exit: zero}\n"}));
  EXPECT_EQ(tool.status, 2) << tool.output;
}

// All calls of the rank are equal, so a call that it left out and an end one call too early look the same. It
// ended with an error, and the finding says that.
TEST_F(Spine, NamesTheRankThatEndsWithAnErrorOneCallShort) {
  const ToolRun tool =
      run(gloo_job({.fault = "{id: skip, kind: skip_call, ranks: [1], at: {op: all_reduce, nth: 4}}",
                    .expect = "  - blamed: {kind: exited_rank, ranks: [1], op: all_reduce}\n"
                              "  - unblocked: {ranks: all, within: 5s, after: skip}\n"}));
  EXPECT_EQ(tool.status, 0) << tool.output;
}

// Findings depend only on the flight records: without the plan, the faults applied to the ranks, and the
// journal lines about faults, they are the same bytes.
TEST_F(Spine, FindingsDoNotNeedToKnowWhatWasInjected) {
  const ToolRun tool = run(gloo_job({.fault = kKillAtThird, .expect = kKillExpected}));
  ASSERT_EQ(tool.status, 0) << tool.output;
  const ToolRun before = run_tool({"diagnose", run_dir(), "--json"});
  EXPECT_EQ(before.status, 1) << before.output;

  const std::string copy = scratch_.file("copy");
  ASSERT_EQ(std::system(("cp -r " + run_dir() + " " + copy + " && rm -f " + copy + "/plan.json " + copy +
                         "/result.json " + copy +
                         "/records/*.actions && sed -i '/\"ev\":\"fault_/d; /\"ev\":\"finding\"/d' " + copy +
                         "/journal.ndjson")
                            .c_str()),
            0);
  const ToolRun after = run_tool({"diagnose", copy, "--json"});
  EXPECT_EQ(after.status, before.status);
  EXPECT_EQ(after.output, before.output);
  const Json live = result_of(run_dir())["findings"];
  EXPECT_EQ(Json::parse(before.output)["findings"].dump(), live.dump());
}

TEST_F(Spine, JudgingACopyGivesTheSameBytes) {
  ASSERT_EQ(run(gloo_job({.fault = kKillAtThird, .expect = kKillExpected})).status, 0);
  const std::string copy = scratch_.file("copy");
  ASSERT_EQ(std::system(("cp -r " + run_dir() + " " + copy).c_str()), 0);
  const ToolRun first = run_tool({"judge", run_dir(), "--json"});
  ASSERT_EQ(std::system(("rm -rf " + run_dir()).c_str()), 0);
  const ToolRun second = run_tool({"judge", copy, "--json"});
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_EQ(second.status, 0) << second.output;
  const auto without_place = [](std::string text, const std::string& place) {
    for (size_t at; (at = text.find(place)) != std::string::npos;) text.replace(at, place.size(), "RUN");
    return text;
  };
  EXPECT_EQ(without_place(first.output, run_dir()), without_place(second.output, copy));
}

}  // namespace
}  // namespace rankfault::test
