// bad_input_test: each mistake is reported at its place, in words that say how to correct it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "documents.h"

namespace rankfault {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct BadInput {
  const char* fact;
  const char* from;
  const char* to;
  const char* message;
};

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsNamedAtItsPlace) {
  EXPECT_EQ(mistake(with(GetParam().from, GetParam().to)), GetParam().message);
}

const BadInput kKeysAndTypes[] = {
    {"UnknownTopKey",
     "summary:", "sumary:", "f.yaml:3:1: unknown key \"sumary\" in a scenario (did you mean \"summary\"?)"},
    {"UnknownWorkloadKey", "  launcher:", "  lancher:",
     "f.yaml:5:3: unknown key \"lancher\" in workload (did you mean \"launcher\"?)"},
    {"UnknownTriggerKey", "nth: 3", "nht: 3",
     "f.yaml:13:39: unknown key \"nht\" in at (did you mean \"nth\"?)"},
    {"UnknownFaultKey", "    ranks: [2]", "    ranks: [2]\n    sgnal: TERM",
     "f.yaml:13:5: unknown key \"sgnal\" in rank_kill (did you mean \"signal\"?)"},
    {"UnknownOracleKey", "within: 12s", "witin: 12s",
     "f.yaml:16:35: unknown key \"witin\" in unblocked (did you mean \"within\"?)"},
    {"OnIsNoKey", "    at: {op: all_reduce, comm: world, nth: 3}", "    on: {op: all_reduce}",
     "f.yaml:13:5: unknown key \"on\" (YAML 1.1 reads it as true): write when a fault fires under \"at\""},
    {"WrongVersion", "version: 1", "version: 2", "f.yaml:1:10: this rankfault reads version 1, not \"2\""},
    {"NoVersion", "version: 1\n", "", "f.yaml:1:1: a scenario needs \"version\""},
    {"RanksAsText", "ranks: 4", "ranks: four", "f.yaml:6:10: \"ranks\" must be a whole number, not \"four\""},
    {"NoRanks", "ranks: 4", "ranks: 0", "f.yaml:6:10: \"ranks\" must be at least 1, not 0"},
    {"CommandAsText", "[prog, --steps=3]", "prog --steps=3",
     "f.yaml:7:12: \"command\" must be a list of words, not \"prog --steps=3\": write [a, b] (no shell reads "
     "it)"},
    {"EmptyCommand", "[prog, --steps=3]", "[]",
     "f.yaml:7:12: \"command\" is empty: write the program to run"},
    {"NoUnit", "wall: 90s", "wall: 90",
     "f.yaml:8:18: \"90\" is not a duration: write a number with a unit, as 200ms, 1.5s or 2m"},
    {"NoPatience", "wall: 90s", "hung_after: 0s", "f.yaml:8:24: \"hung_after\" must be more than 0"},
    {"SlowAfterHung", "wall: 90s", "slow_after: 3s, hung_after: 2s",
     "f.yaml:8:24: \"slow_after\" must not be longer than \"hung_after\": a rank is slow before its job is "
     "hung"},
    {"UnknownLauncher", "launcher: local", "launcher: mpirn",
     "f.yaml:5:13: \"launcher\" must be local, mpirun, torchrun, command or slurm, not \"mpirn\" (did you mean "
     "\"mpirun\"?)"},
    {"NodesOfAnotherLauncher", "limits: {wall: 90s}", "nodes: 2",
     "f.yaml:8:10: \"nodes\" is only for \"launcher: torchrun\""},
    {"UnevenNodes", "launcher: local", "launcher: torchrun\n  nodes: 3",
     "f.yaml:6:10: 4 ranks cannot be divided among 3 nodes: each node must have the same number"},
    {"NameWithSlash", "name: good", "name: ../up",
     "f.yaml:2:7: \"name\" must be 1 to 100 letters, digits, dots, dashes and underscores"},
    {"NoExpectations",
     "  - blamed: {kind: dead_rank, ranks: [2], op: all_reduce}\n  - unblocked: {ranks: survivors, "
     "within: 12s, after: kill}\n  - left_nothing: [processes, shm, sockets, temp_files]\n",
     "  []\n", "f.yaml:15:3: \"expect\" is empty: write at least one expectation"},
    {"CudaWord", "limits: {wall: 90s}", "cuda: fake",
     "f.yaml:8:9: \"cuda\" must be machine or double, not \"fake\""},
    {"NcclWord", "limits: {wall: 90s}", "cuda: double\n  nccl: new",
     "f.yaml:9:9: \"nccl\" must be a version such as 2.22.3, not \"new\""},
    {"NcclWithoutTheDouble", "limits: {wall: 90s}", "nccl: 2.22.3",
     "f.yaml:8:9: \"nccl\" selects the NCCL version over the double: it needs \"cuda: double\""},
    {"UnknownPlaceholder", "--steps=3", "\"--file={stroe}/x\"",
     "f.yaml:7:19: unknown placeholder \"{stroe}\" (did you mean \"store\"?); write \"{{stroe}}\" for the "
     "literal text"},
    {"UnknownPlaceholderInTheEnvironment", "limits: {wall: 90s}", "env: {DATA: \"{tpm}/data\"}",
     "f.yaml:8:15: unknown placeholder \"{tpm}\" (did you mean \"tmp\"?); write \"{{tpm}}\" for the literal "
     "text"},
    {"RankOfACheck", "left_nothing: [processes, shm, sockets, temp_files]",
     "check: {command: [cmp, \"{rank}\"]}",
     "f.yaml:17:28: \"{rank}\" has no value here: a check runs once, for all ranks; write \"{{rank}}\" for "
     "the literal text"},
    {"RankUnderALauncherOfAllRanks", "launcher: local", "launcher: mpirun\n  cwd: \"{tmp}/{rank}\"",
     "f.yaml:6:8: \"{rank}\" has no value here: mpirun, torchrun and srun start all ranks with one command; write "
     "\"{{rank}}\" for the literal text"},
    {"NeedOfAVersion", "limits: {wall: 90s}", "needs: [nccl > 2]", "f.yaml:8:11: unknown need \"nccl > 2\""},
};
INSTANTIATE_TEST_SUITE_P(KeysAndTypes, BadInputTest, testing::ValuesIn(kKeysAndTypes),
                         [](const auto& entry) { return entry.param.fact; });

const BadInput kFaults[] = {
    {"UnknownKind", "rank_kill", "rnak_kill",
     "f.yaml:11:11: unknown fault kind \"rnak_kill\" (did you mean \"rank_kill\"?)"},
    {"KindLikeNoOther", "kind: rank_kill", "kind: oom",
     "f.yaml:11:11: unknown fault kind \"oom\"; `rankfault list faults` names them"},
    {"IndentedByATab", "  launcher: local", "\tlauncher: local",
     "f.yaml:5:1: a tab indents this line: YAML indents with blanks"},
    {"ABraceThatIsNeverClosed", "limits: {wall: 90s}", "limits: {wall: 90s",
     "f.yaml:8:11: this \"{\" is never closed"},
    {"ABracketThatIsNeverClosed", "[prog, --steps=3]", "[prog, \"it's {\", --steps=3  # not ]",
     "f.yaml:7:12: this \"[\" is never closed"},
    {"ArgumentsOfACommandLauncher", "launcher: local", "launcher: command\n  launcher_args: [-v]",
     "f.yaml:6:18: with \"launcher: command\", write the arguments into \"command\""},
    {"RankOfACommandLauncher", "launcher: local\n  ranks: 4\n  command: [prog, --steps=3]",
     "launcher: command\n  ranks: 4\n  command: [prog, \"{rank}\"]",
     "f.yaml:7:19: \"{rank}\" has no value here: the command starts all ranks; write \"{{rank}}\" for the "
     "literal "
     "text"},
    {"RankOutOfRange", "ranks: [2]", "ranks: [4]",
     "f.yaml:12:12: rank 4 is not in this job: ranks are 0 to 3"},
    {"NegativeRank", "ranks: [2]", "ranks: [-1]",
     "f.yaml:12:13: ranks must be a rank, a range such as 8-15, or one of all, victims, others and "
     "survivors, not \"-1\""},
    {"OthersAsVictims", "ranks: [2]", "ranks: others",
     "f.yaml:12:12: the ranks of a fault must be a list, a range or all: victims, others and survivors refer "
     "to them"},
    {"NthFromOne", "nth: 3", "nth: 0", "f.yaml:13:44: \"nth\" must be at least 1, not 0"},
    {"UnknownOp", "op: all_reduce, comm", "op: allreduce, comm",
     "f.yaml:13:14: unknown op \"allreduce\" (did you mean \"all_reduce\"?)"},
    {"CommTooLarge", "comm: world", "comm: {size: 5}",
     "f.yaml:13:9: a job of 4 ranks cannot have a communicator of size 5"},
    {"CommWithoutRank", "comm: world", "comm: {size: 2, has_rank: 7}",
     "f.yaml:13:9: rank 7 is not in this job: ranks are 0 to 3"},
    {"VictimNotInComm", "comm: world", "comm: {size: 2, has_rank: 1}",
     "f.yaml:13:9: \"has_rank\" must be the only victim of the fault: a victim sees only its own "
     "communicators"},
    {"AttemptThatNeverComes", "nth: 3", "attempt: 1",
     "f.yaml:13:9: attempt 1 does not exist: with \"restarts: 0\" attempts are 0 to 0"},
    {"PathWithoutFileOp", "nth: 3", "path: x",
     "f.yaml:13:45: \"path\" selects file operations or calls of CUDA: it needs \"file_op\", or \"op\" with "
     "device_alloc, device_launch or device_query"},
    {"UnknownAfterFault", "nth: 3", "after_fault: kil",
     "f.yaml:13:9: after_fault names no fault: \"kil\" (did you mean \"kill\"?)"},
    {"WaitsForItself", "nth: 3", "after_fault: kill",
     "f.yaml:13:9: \"kill\" waits for itself through after_fault"},
    {"SkippedInit", "kind: rank_kill\n    ranks: [2]\n    at: {op: all_reduce,",
     "kind: skip_call\n    ranks: [2]\n    at: {op: init,",
     "f.yaml:13:9: init cannot be skipped: the library would not be initialised, and no later call could "
     "be made"},
    {"SkippedWait", "kind: rank_kill\n    ranks: [2]\n    at: {op: all_reduce,",
     "kind: skip_call\n    ranks: [2]\n    at: {op: wait,",
     "f.yaml:13:9: wait cannot be skipped: it returns the state of an earlier call, and a skipped call has "
     "none to return"},
    {"SkippedCommCreation", "kind: rank_kill\n    ranks: [2]\n    at: {op: all_reduce,",
     "kind: skip_call\n    ranks: [2]\n    at: {op: comm_create,",
     "f.yaml:13:9: comm_create cannot be skipped: it returns a communicator, and a skipped call has none "
     "to return"},
};
INSTANTIATE_TEST_SUITE_P(Faults, BadInputTest, testing::ValuesIn(kFaults),
                         [](const auto& entry) { return entry.param.fact; });

const BadInput kExpectations[] = {
    {"UnknownOracle", "- unblocked", "- unbloked",
     "f.yaml:16:5: unknown oracle \"unbloked\" (did you mean \"unblocked\"?)"},
    {"UnknownFaultId", "after: kill", "after: kil",
     "f.yaml:16:55: \"after\" names no fault: \"kil\" (did you mean \"kill\"?)"},
    {"UnknownLeftover", "[processes,", "[proceses,",
     "f.yaml:17:20: \"kinds\" must be one of processes, shm, sockets, temp_files, sysv, queues, not "
     "\"proceses\" (did you mean \"processes\"?)"},
    {"SurvivorsOfNothing", "kind: rank_kill", "kind: skip_call",
     "f.yaml:16:24: \"survivors\" needs a fault that ends a rank; none does: write \"others\" or \"all\""},
    {"MustFailNobody", "expect:", "must_be: {fail: unblock}\nexpect:",
     "f.yaml: must_be names no expectation: \"unblock\" (did you mean \"unblocked\"?)"},
    {"ToothOnNothing", "expect:", "teeth:\n  - {args: [--off], must_fail: nothing_such}\nexpect:",
     "f.yaml:15:5: must_fail names no expectation: \"nothing_such\""},
    {"BugAndFault", "expect:", "bug: {args: [--x], stands_for: y}\nexpect:",
     "f.yaml:14:6: a scenario must not have both faults and a bug: a finding could come from either"},
};
INSTANTIATE_TEST_SUITE_P(Expectations, BadInputTest, testing::ValuesIn(kExpectations),
                         [](const auto& entry) { return entry.param.fact; });

TEST(BadInput, ABugMustBeBlamed) {
  const std::string head =
      "version: 1\nname: b\nworkload: {ranks: 2, command: [p]}\nbug: {args: [--x], stands_for: y}\n";
  EXPECT_THAT(mistake(head + "expect: [finished: {}]\n"),
              HasSubstr("f.yaml:4:6: a bug needs an expectation"));
  EXPECT_EQ(mistake(head + "expect: [blamed: {kind: missing_call}]\n"), "");
}

TEST(BadInput, WithoutFaultAndBugOnlyNoneIsBlamed) {
  const std::string head = "version: 1\nname: b\nworkload: {ranks: 2, command: [p]}\n";
  EXPECT_THAT(mistake(head + "expect: [blamed: {kind: dead_rank}]\n"),
              HasSubstr("f.yaml:4:10: in a scenario without faults"));
  EXPECT_EQ(mistake(head + "expect: [blamed: {kind: none}]\n"), "");
  EXPECT_EQ(mistake(head + "expect: [blamed: none]\n"), "");
}

// Each of these would be judged without the part written next to it.
TEST(BadInput, WhatIsNotAFindingStandsAloneInBlamed) {
  const std::string plain = "version: 1\nname: b\nworkload: {ranks: 2, command: [p]}\n";
  const std::string bug = plain + "bug: {args: [--x], stands_for: y}\n";
  const auto blamed = [&](const std::string& head, const std::string& what) {
    return mistake(head + "expect: [blamed: " + what + "]\n");
  };
  for (const char* kind : {"none", "unsafe"})
    EXPECT_THAT(blamed(bug, fmt::format("{{any_of: [{{kind: missing_call}}, {{kind: {}}}]}}", kind)),
                HasSubstr("cannot be an alternative"));
  EXPECT_THAT(blamed(plain, "{kind: none, any_of: [{ranks: [1]}]}"), HasSubstr("has no alternatives"));
  EXPECT_THAT(blamed(bug, "{kind: unsafe, any_of: [{ranks: [1]}]}"), HasSubstr("has no alternatives"));
  EXPECT_THAT(blamed(bug, "{kind: missing_call, safe: true}"), HasSubstr("belongs to kind none"));
}

TEST(BadInput, AReferenceIsNeededToCompareWith) {
  const std::string text = with("  - left_nothing: [processes, shm, sockets, temp_files]\n",
                                "  - same_as_reference: {values: [weights]}\n");
  EXPECT_THAT(mistake(text), HasSubstr("f.yaml:17:5: same_as_reference needs a reference"));
}

// Puts two variants in line 9, before the faults. The comparison is in line 16.
std::string compared(const std::string& variants, const std::string& compare) {
  std::string text = with("faults:", "variants: [" + variants + "]\nfaults:");
  return text.replace(text.find("  - blamed"), 0, "  - compare: " + compare + "\n");
}

struct BadComparison {
  const char* fact;
  const char* variants;
  const char* compare;
  const char* message;
};

class BadComparisonTest : public testing::TestWithParam<BadComparison> {};

TEST_P(BadComparisonTest, IsNamedAtItsPlace) {
  EXPECT_EQ(mistake(compared(GetParam().variants, GetParam().compare)), GetParam().message);
}

constexpr const char* kTwo = "{id: one}, {id: two, args: [--x]}";

const BadComparison kComparisons[] = {
    {"Good", kTwo, "{value: weights, between: [two, one]}", ""},
    {"GoodTimes", kTwo, "{value: job_duration, within: {rel: 0.5}}", ""},
    {"GoodCalls", kTwo, "{value: calls, op: shm_attach, within: differs}", ""},
    {"OneVariant", "{id: one}", "{value: weights}",
     "f.yaml:9:11: \"variants\" must have 2 to 256 items, not 1"},
    {"TwoOfOneName", "{id: one}, {id: one}", "{value: weights}",
     "f.yaml:9:28: two variants are called \"one\""},
    {"NoId", "{id: one}, {args: [--x]}", "{value: weights}", "f.yaml:9:23: a variant needs \"id\""},
    {"IdIsNoName", "{id: one}, {id: a/b}", "{value: weights}",
     "f.yaml:9:28: the id of a variant must be 1 to 40 letters, digits, dashes and underscores"},
    {"UnknownKey", "{id: one}, {id: two, arg: [--x]}", "{value: weights}",
     "f.yaml:9:33: unknown key \"arg\" in a variant (did you mean \"args\"?)"},
    {"UnknownVariant", kTwo, "{value: weights, between: [one, tow]}",
     "f.yaml:16:46: unknown variant \"tow\" in \"between\" (did you mean \"two\"?)"},
    {"BetweenOne", kTwo, "{value: weights, between: [one]}",
     "f.yaml:16:40: \"between\" must name at least two variants"},
    {"WithItself", kTwo, "{value: weights, between: [one, one]}",
     "f.yaml:16:41: \"between\" names \"one\" twice"},
    {"UnknownWithin", kTwo, "{value: weights, within: same}",
     "f.yaml:16:39: \"within\" must be exact, differs, shown, {abs: x} or {rel: x}"},
    {"NoBound", kTwo, "{value: weights, within: {abs: 0}}",
     "f.yaml:16:39: a bound must be a number above 0 (of seconds, where times are compared)"},
    {"SameTimes", kTwo, "{value: step_duration, within: exact}",
     "f.yaml:16:45: no two times are the same: \"within\" of step_duration must be shown, {abs: x} or {rel: "
     "x}"},
    {"CallsOfWhat", kTwo, "{value: calls}", "f.yaml:16:5: \"value: calls\" needs \"op\": the calls to count"},
    {"UnknownOp", kTwo, "{value: calls, op: allreduce}",
     "f.yaml:16:33: unknown op \"allreduce\" (did you mean \"all_reduce\"?)"},
    {"FileOp", kTwo, "{value: calls, op: fsync}",
     "f.yaml:16:33: compare cannot count file operations, except those on shared memory: not all of them are "
     "recorded"},
    {"StepOfAMeasure", kTwo, "{value: commits, at: {step: 3}}",
     "f.yaml:16:35: \"at\" belongs to a value that ranks report"},
};
INSTANTIATE_TEST_SUITE_P(Variants, BadComparisonTest, testing::ValuesIn(kComparisons),
                         [](const auto& entry) { return entry.param.fact; });

std::vector<std::string> mistakes(const std::string& text) {
  std::vector<std::string> all;
  for (const Error& error : all_mistakes(parse_all(text, "f.yaml"))) all.push_back(error.to_string());
  return all;
}

std::string changed(std::string text, const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [from, to] : changes) text.replace(text.find(from), from.size(), to);
  return text;
}

// Mistakes that the parser finds and mistakes that only the catalogues know, in the order of the file.
TEST(BadInput, AllMistakesComeAtOnce) {
  EXPECT_THAT(mistakes(changed(kGood, {{"summary:", "sumary:"},
                                       {"rank_kill", "rnak_kill"},
                                       {"nth: 3", "nht: 3"},
                                       {"- unblocked", "- unbloked"},
                                       {"sockets", "sokets"}})),
              ElementsAre("f.yaml:3:1: unknown key \"sumary\" in a scenario (did you mean \"summary\"?)",
                          "f.yaml:11:11: unknown fault kind \"rnak_kill\" (did you mean \"rank_kill\"?)",
                          "f.yaml:13:39: unknown key \"nht\" in at (did you mean \"nth\"?)",
                          "f.yaml:16:5: unknown oracle \"unbloked\" (did you mean \"unblocked\"?)",
                          "f.yaml:17:36: \"kinds\" must be one of processes, shm, sockets, temp_files, sysv, "
                          "queues, not \"sokets\" (did you mean \"sockets\"?)"));
}

// A fault of unknown kind gives no message that it ends no rank. A number of ranks that was not read gives no
// message that rank 2 does not exist.
TEST(BadInput, NoMistakeIsTheEchoOfAnother) {
  EXPECT_THAT(mistakes(changed(kGood, {{"rank_kill", "rnak_kill"}})),
              ElementsAre("f.yaml:11:11: unknown fault kind \"rnak_kill\" (did you mean \"rank_kill\"?)"));
  EXPECT_THAT(mistakes(changed(kGood, {{"ranks: 4", "ranks: four"}})), SizeIs(1));
  EXPECT_THAT(mistakes(changed(kGood, {{"    kind: rank_kill\n", ""}})), SizeIs(1));
}

TEST(BadInput, EveryParameterOfOneFaultIsTold) {
  EXPECT_THAT(mistakes(changed(kGood, {{"    at:", "    sgnal: 9\n    sighal: 9\n    at:"}})), SizeIs(2));
}

TEST(BadInput, CompareNeedsVariants) {
  const std::string text =
      with("  - left_nothing: [processes, shm, sockets, temp_files]", "  - compare: {value: weights}");
  EXPECT_EQ(mistake(text), "f.yaml:17:5: compare has nothing to compare: add \"variants\" to the scenario");
}

TEST(BadInput, VariantsThatExpectNothingOfEachAreRefused) {
  const std::string text =
      "version: 1\nname: n\nworkload: {ranks: 2, command: [prog]}\nvariants: [{id: a}, {id: b}]\n"
      "expect:\n  - compare: {value: weights}\n";
  EXPECT_EQ(mistake(text),
            "f.yaml:6:5: at least one expectation must judge each variant by itself: add \"- finished\"");
}

// Such steps are read after the run: no trigger could fire at one.
TEST(BadInput, AStepThatOnlyTheLogsTellIsNoTrigger) {
  const std::string text = with("at: {op: all_reduce,", "at: {step: 3, op: all_reduce,");
  const auto with_marker = [&](const std::string& marker) {
    std::string out = text;
    const std::string from = "limits: {wall: 90s}";
    return out.replace(out.find(from), from.size(), "markers: {" + marker + ": \"step (\\\\d+)\"}");
  };
  EXPECT_THAT(
      mistake(with_marker("step_begin")),
      HasSubstr("f.yaml:13:9: a step cannot trigger a fault here: rankfault reads markers.step_begin"));
  EXPECT_EQ(mistake(with_marker("step_commit")), "");
}

TEST(BadInput, BracesThatAreMeantAsTheyStandAreNoMistake) {
  for (const char* word :
       {"'{\"a\": {\"b\": 1}}'", "'{{name}}'", "'${HOME}'", "'{Name}'", "'{tmp}/{run}'", "'{'"})
    EXPECT_EQ(mistake(with("--steps=3", word)), "") << word;
}

}  // namespace
}  // namespace rankfault
