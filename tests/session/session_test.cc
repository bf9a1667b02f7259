// session_test: exit codes, references and the square, with simulated runs.
#include "harness/session/session.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/base/exit_code.h"
#include "harness/scenario/scenario_parser.h"
#include "harness/session/mutation_check.h"
#include "harness/session/scenario_runner.h"

namespace rankfault::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Scenario scenario(const std::string& more, const std::string& name = "t") {
  const std::string text =
      "version: 1\nname: " + name + "\nworkload: {ranks: 4, command: [prog], limits: {wall: 9s}}\n" + more;
  Result<Scenario> parsed = parse_scenario(text, "t.yaml");
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
  return *parsed;
}

const char* kKill =
    "faults:\n  - {id: kill, kind: rank_kill, ranks: [2], at: {op: all_reduce, nth: 3}}\n"
    "expect:\n  - finished\n  - left_nothing\n";
const char* kTooth = "teeth:\n  - {args: [--off], must_fail: finished}\n";
const char* kPlain = "expect:\n  - finished\n";

// A copied run is judged with all records of its reference: those that were taken out of the rings, too.
TEST(Reference, IsKeptWithAllItsRecords) {
  const std::filesystem::path folder = testing::TempDir() + "reference-" + std::to_string(::getpid());
  const std::filesystem::path from = folder / "from", to = folder / "to";
  std::filesystem::create_directories(from / "records");
  std::filesystem::create_directories(to);
  const std::vector<std::string> files{
      "plan.json",         "journal.ndjson",        "records/a.ring",
      "records/a.L0.seen", "records/a.L0.seen.old", "records/a.L0.seen.kept"};
  for (const std::string& file : files) std::ofstream(from / file) << file;
  EXPECT_TRUE(keep_reference_beside(from, to).ok());
  for (const std::string& file : files) EXPECT_TRUE(std::filesystem::exists(to / "reference" / file)) << file;
  std::filesystem::remove_all(folder);
}

// Answers each plan as the test says, and records the requests.
struct FakeRuns {
  std::function<Judgement(const Plan&)> judgement;
  std::vector<std::string> asked;

  RunFunction function() {
    return [this](const Plan& plan, const RunOptions&) -> Result<FinishedRun> {
      asked.push_back((plan.tooth.empty() ? "on" : "off") + std::string(plan.faults_on ? "+fault" : ""));
      FinishedRun run;
      run.facts = std::make_unique<RunFacts>();
      run.report.judgement = judgement(plan);
      run.report.facts = run.facts.get();
      return run;
    };
  }
};

Judgement judged(Verdict finished, bool fired = true) {
  Judgement out;
  out.verdict = finished;
  out.as_it_must_be = finished == Verdict::kPass;
  out.expectations = {{"finished", "finished", finished, "says the test", {}}};
  out.faults = {{"kill", "rank_kill", fired, fired, "says the test", 0}};
  return out;
}

int code_of(Verdict verdict, bool by_verdict, const std::string& cleanup = "") {
  FakeRuns fake{[&](const Plan&) { return judged(verdict); }, {}};
  SessionOptions options;
  options.by_verdict = by_verdict;
  const RunFunction inner = fake.function();
  const RunFunction run = [&](const Plan& plan, const RunOptions& o) {
    Result<FinishedRun> out = inner(plan, o);
    out->report.cleanup = cleanup;
    return out;
  };
  Result<SessionResult> result = run_session({scenario(kPlain)}, run, options);
  EXPECT_TRUE(result.ok());
  return result->exit_code;
}

TEST(Session, OneFileTellsItsVerdict) {
  EXPECT_EQ(code_of(Verdict::kPass, true), kExitPass);
  EXPECT_EQ(code_of(Verdict::kFail, true), kExitFail);
  EXPECT_EQ(code_of(Verdict::kUnknown, true), kExitUnknown);
  EXPECT_EQ(code_of(Verdict::kVoid, true), kExitUnknown);
  EXPECT_EQ(code_of(Verdict::kPass, true, "a segment is left"), kExitCleanupIncomplete);
}

TEST(Session, SeveralTellTheOutcome) {
  EXPECT_EQ(code_of(Verdict::kPass, false), kExitPass);
  EXPECT_EQ(code_of(Verdict::kFail, false), kExitFail);
  EXPECT_EQ(code_of(Verdict::kVoid, false), kExitUnknown);
}

TEST(Session, TheWorstCodeIsTheFirstThatApplies) {
  EXPECT_EQ(merged_exit_code({0, 1, 2, 77, 3, 64, 70}), kExitInternal);
  EXPECT_EQ(merged_exit_code({0, 1, 3, 71, 64}), kExitUsage);
  EXPECT_EQ(merged_exit_code({0, 1, 3, 71}), kExitHost);
  EXPECT_EQ(merged_exit_code({1, 3}), kExitCleanupIncomplete);
  EXPECT_EQ(merged_exit_code({2, 1, 0}), kExitFail);
  EXPECT_EQ(merged_exit_code({0, 2}), kExitUnknown);
  EXPECT_EQ(merged_exit_code({77, 0}), kExitPass);
  EXPECT_EQ(merged_exit_code({77, 77}), kExitSkipped);
}

TEST(Session, EveryErrorHasItsCode) {
  SessionOptions options;
  const auto code = [&](const Error& error) {
    const RunFunction run = [&](const Plan&, const RunOptions&) -> Result<FinishedRun> { return error; };
    return run_session({scenario(kPlain)}, run, options)->exit_code;
  };
  EXPECT_EQ(code(missing("no mpirun here")), kExitSkipped);
  EXPECT_EQ(code(refused("no such program")), kExitUsage);
  EXPECT_EQ(code(errno_error("write state.json", ENOSPC)), kExitHost);
  EXPECT_EQ(code(errno_error("open scenario.yaml", ENOENT)), kExitUsage);
  EXPECT_EQ(code({ErrorKind::kInternal, "oops", {}}), kExitInternal);
}

// The job ran, so this is not a usage error, and the verdicts of the other scenarios remain.
TEST(Session, ARunWhoseRecordsCannotBeReadIsUnknownAndSaysWhy) {
  const RunFunction run = [](const Plan&, const RunOptions&) -> Result<FinishedRun> {
    return unjudged("the journal was changed");
  };
  const auto result = run_session({scenario(kPlain)}, run, {});
  EXPECT_EQ(result->exit_code, kExitUnknown);
  EXPECT_FALSE(result->units[0].error);
  EXPECT_EQ(result->units[0].report.judgement.summary, "the journal was changed");
}

TEST(Session, AnInterruptEndsItWithTheSignalsCode) {
  std::atomic<int> signal{15};
  FakeRuns fake{[](const Plan&) { return judged(Verdict::kPass); }, {}};
  SessionOptions options;
  options.interrupted = &signal;
  const auto result = run_session({scenario(kPlain)}, fake.function(), options);
  EXPECT_EQ(result->exit_code, kExitTerminated);
  EXPECT_TRUE(fake.asked.empty());
}

TEST(Session, NothingIsLaunchedWhenOneScenarioCannotBePlanned) {
  FakeRuns fake{[](const Plan&) { return judged(Verdict::kPass); }, {}};
  SessionOptions options;
  options.set = {{"faults.nobody.at.nth", "3"}};
  EXPECT_FALSE(run_session({scenario(kPlain)}, fake.function(), options).ok());
  EXPECT_TRUE(fake.asked.empty());
}

TEST(Session, AReferenceThatFailsMakesTheScenarioUnknown) {
  FakeRuns fake{[](const Plan& plan) { return judged(plan.faults_on ? Verdict::kPass : Verdict::kFail); },
                {}};
  const auto result =
      run_session({scenario(std::string("reference: fault_free\n") + kKill)}, fake.function(), {});
  EXPECT_EQ(result->exit_code, kExitUnknown);
  EXPECT_THAT(result->units[0].report.judgement.summary, HasSubstr("reference"));
  EXPECT_THAT(fake.asked, ElementsAre("on"));
}

std::vector<MutationRow> square(const std::function<Judgement(const Plan&)>& judgement,
                                FakeRuns* out = nullptr) {
  FakeRuns fake{judgement, {}};
  SessionOptions options;
  options.teeth = true;
  auto result = run_session({scenario(std::string(kTooth) + kKill)}, fake.function(), options);
  EXPECT_TRUE(result.ok());
  if (out) out->asked = fake.asked;
  return result->units[0].teeth;
}

TEST(MutationCheck, AToothBitesWhenTheNamedExpectationFailsOnlyWithDefenceOffAndFault) {
  FakeRuns asked;
  const auto rows = square(
      [](const Plan& p) { return judged(p.faults_on && !p.tooth.empty() ? Verdict::kFail : Verdict::kPass); },
      &asked);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].bites) << rows[0].why;
  EXPECT_THAT(asked.asked, ElementsAre("on", "on+fault", "off", "off+fault"));
}

TEST(MutationCheck, AToothThatChangesNothingDoesNotBite) {
  const auto rows = square([](const Plan&) { return judged(Verdict::kPass); });
  EXPECT_FALSE(rows[0].bites);
  EXPECT_THAT(rows[0].why, HasSubstr("finished is pass"));
}

TEST(MutationCheck, AToothThatBreaksTheJobByItselfProvesNothing) {
  const auto rows =
      square([](const Plan& p) { return judged(p.tooth.empty() ? Verdict::kPass : Verdict::kFail); });
  EXPECT_FALSE(rows[0].bites);
  EXPECT_THAT(rows[0].why, HasSubstr("the mutation alone breaks the job"));
}

TEST(MutationCheck, AToothUnderWhichTheFaultDoesNotFireIsAnError) {
  const auto rows = square([](const Plan& p) {
    const bool off = p.faults_on && !p.tooth.empty();
    return judged(off ? Verdict::kFail : Verdict::kPass, !off);
  });
  EXPECT_FALSE(rows[0].bites);
  EXPECT_THAT(rows[0].why, HasSubstr("does not fire"));
}

TEST(MutationCheck, AnUnknownIsNoBite) {
  const auto rows = square([](const Plan& p) {
    return judged(p.faults_on && !p.tooth.empty() ? Verdict::kUnknown : Verdict::kPass);
  });
  EXPECT_FALSE(rows[0].bites);
}

TEST(MutationCheck, AScenarioThatFailsByItselfHasNoTeeth) {
  const auto rows =
      square([](const Plan& p) { return judged(p.faults_on ? Verdict::kFail : Verdict::kPass); });
  EXPECT_FALSE(rows[0].bites);
  EXPECT_THAT(rows[0].why, HasSubstr("not as expected"));
}

const char* kBug =
    "bug: {args: [--bug], stands_for: a mistake}\nexpect:\n  - blamed: {kind: call_mismatch}\n  - "
    "left_nothing\n";

std::vector<MutationRow> bug_square(Verdict off_blamed, Verdict off_other) {
  const RunFunction run = [&](const Plan& plan, const RunOptions&) -> Result<FinishedRun> {
    FinishedRun out;
    out.facts = std::make_unique<RunFacts>();
    Finding none;
    none.kind = "none";
    out.facts->findings.all.push_back(none);
    Judgement& j = out.report.judgement;
    j.expectations = {{"blamed", "blamed", plan.bug_on ? Verdict::kPass : off_blamed, "", {}},
                      {"left_nothing", "left_nothing", plan.bug_on ? Verdict::kPass : off_other, "", {}}};
    j.verdict = plan.bug_on ? Verdict::kPass : Verdict::kFail;
    j.as_it_must_be = plan.bug_on;
    return out;
  };
  SessionOptions options;
  options.teeth = true;
  return std::move(run_session({scenario(kBug)}, run, options)->units[0].teeth);
}

TEST(MutationCheck, ForABugOnlyBlamedMayFailWithTheBugOff) {
  EXPECT_TRUE(bug_square(Verdict::kFail, Verdict::kPass).at(0).bites);
  EXPECT_FALSE(bug_square(Verdict::kPass, Verdict::kPass).at(0).bites);
  EXPECT_FALSE(bug_square(Verdict::kFail, Verdict::kFail).at(0).bites);
}

TEST(Workers, RunScenariosInProcessesOfTheirOwnAndKeepTheirOrder) {
  const pid_t here = ::getpid();
  const RunFunction run = [&](const Plan& plan, const RunOptions&) -> Result<FinishedRun> {
    if (::getpid() == here) return Error{ErrorKind::kInternal, "not in a worker", {}};
    return missing("worker for " + plan.scenario.name);
  };
  SessionOptions options;
  options.jobs = 2;
  const auto result =
      run_session({scenario(kPlain, "a"), scenario(kPlain, "b"), scenario(kPlain, "c")}, run, options);
  ASSERT_EQ(result->units.size(), 3u);
  EXPECT_EQ(result->units[0].report.skipped, "worker for a");
  EXPECT_EQ(result->units[2].report.skipped, "worker for c");
  EXPECT_EQ(result->exit_code, kExitSkipped);
}

TEST(Workers, AWorkerThatDiesIsAnInternalError) {
  const RunFunction run = [](const Plan&, const RunOptions&) -> Result<FinishedRun> { ::_exit(1); };
  SessionOptions options;
  options.jobs = 2;
  EXPECT_EQ(run_session({scenario(kPlain)}, run, options)->exit_code, kExitInternal);
}

}  // namespace
}  // namespace rankfault::test
