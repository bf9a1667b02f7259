// judge: RunFacts -> Judgement: verifies every fault, asks every expectation, and merges the verdicts to the
// worst: fail > unknown > void > pass.
#include <fmt/format.h>

#include <algorithm>

#include "faults/fault.h"
#include "harness/base/exit_code.h"
#include "harness/judge/oracle.h"
#include "harness/judge/oracle_queries.h"
#include "harness/judge/values.h"

namespace rankfault {
namespace {

bool fired(const FaultSpec& fault, const RunFacts& facts, const EffectReport& report) {
  if (report.effect == Effect::kVerified || report.effect == Effect::kVoid) return true;
  return std::any_of(facts.gates.begin(), facts.gates.end(), [&](const GateEvent& gate) {
    return gate.fault == fault.id && (is_known(gate.done) || gate.answer == "go" || gate.answer == "release");
  });
}

FaultResult judge_fault(const FaultSpec& fault, const RunFacts& facts, Verdict& verdict) {
  const EffectReport report = effect_of(fault, facts);
  FaultResult result{fault.id,   fault.kind, fired(fault, facts, report), report.effect == Effect::kVerified,
                     report.how, 0};
  for (const GateEvent& gate : facts.gates)
    if (gate.fault == fault.id)
      result.parked_ms += std::chrono::duration<double, std::milli>(gate.parked).count();
  if (fault.optional || result.verified) return result;
  verdict = std::max(verdict, report.effect == Effect::kUnknown ? Verdict::kUnknown : Verdict::kVoid);
  return result;
}

bool something_found(const RunFacts& facts) {
  return std::any_of(facts.findings.all.begin(), facts.findings.all.end(),
                     [](const Finding& f) { return names_trouble(f); });
}

ExpectationResult judge_one(const ExpectationSpec& spec, const RunFacts& facts) {
  const Oracle* oracle = Catalog<Oracle>::instance().find(spec.oracle);
  if (!oracle) return answer(spec, Verdict::kUnknown, "no oracle has this name");
  // No fault had an effect, so an expectation that only a fault can cause cannot be judged. If the diagnosis
  // found something nevertheless, it is judged.
  if (refers_to_trouble(spec) && !something_bit(facts) && !something_found(facts))
    return answer(spec, Verdict::kVoid, "no fault had an effect, so this cannot be judged");
  if (const std::string why = why_no_values(facts); !why.empty() && spec.params.find("values"))
    return answer(spec, Verdict::kUnknown, why);
  return oracle->judge(spec, facts);
}

ExpectationResult implicit(const char* oracle_name, const RunFacts& facts) {
  ExpectationSpec spec;
  spec.id = spec.oracle = oracle_name;
  return judge_one(spec, facts);
}

bool has(const std::vector<ExpectationResult>& results, const char* id) {
  return std::any_of(results.begin(), results.end(), [&](const ExpectationResult& r) { return r.id == id; });
}

// True for a run in which nothing is wrong on purpose: the reference, a corner of the square, or a run with
// the bug off.
bool trouble_is_off(const Plan& plan) { return !plan.faults_on || (plan.scenario.bug && !plan.bug_on); }

// A run with only the bug off is asked every expectation: `blamed` must then fail, because it finds `none`.
// The reference run has no reference of its own, so `same_as_reference` is not asked there.
bool is_asked(const ExpectationSpec& spec, const RunFacts& facts) {
  if (is_over_variants(spec)) return false;
  if (facts.plan.faults_on) return true;
  if (spec.oracle == "same_as_reference" && !facts.reference) return false;
  return !refers_to_trouble(spec);
}

// The outcome that one run must have. A failure that is due in the comparison of several variants is not due
// in one run.
MustBe must_be_of(const RunFacts& facts) {
  const Scenario& scenario = facts.plan.scenario;
  if (trouble_is_off(facts.plan)) return {};
  for (const ExpectationSpec& spec : scenario.expect)
    if (scenario.must_be.kind == MustBe::Kind::kFail && spec.id == scenario.must_be.expectation &&
        is_over_variants(spec))
      return {};
  return scenario.must_be;
}

// Every expectation was judged without the lost lines, so the verdict is unknown.
void note_lost_lines(uint64_t count, Judgement& judgement) {
  judgement.expectations.push_back(
      {"journal",
       "journal",
       Verdict::kUnknown,
       fmt::format("{} line{} of the journal could not be written", count, count == 1 ? "" : "s"),
       {}});
  judgement.verdict = Verdict::kUnknown;
  judgement.as_it_must_be = false;
}

// Returns the changes to the host that clean-up could not undo; "": it undid all.
std::string not_cleaned_up(const RunFacts& facts) {
  std::string what;
  for (const auto& cleanup : lines_of<events::Cleanup>(facts.journal))
    for (const std::string& failed : cleanup->failed) what += (what.empty() ? "" : "; ") + failed;
  return what;
}

}  // namespace

bool is_as_it_must_be(const Judgement& judgement, const MustBe& must_be) {
  switch (must_be.kind) {
    case MustBe::Kind::kPass:
      return judgement.verdict == Verdict::kPass;
    case MustBe::Kind::kVoid:
      return judgement.verdict == Verdict::kVoid;
    case MustBe::Kind::kFail:
      return std::any_of(judgement.expectations.begin(), judgement.expectations.end(), [&](const auto& r) {
        return r.id == must_be.expectation && r.verdict == Verdict::kFail;
      });
  }
  return false;
}

std::string summary_of(const Judgement& judgement) {
  for (const Verdict wanted : {Verdict::kFail, Verdict::kUnknown}) {
    for (const ExpectationResult& result : judgement.expectations)
      if (result.verdict == wanted && judgement.verdict == wanted)
        return fmt::format("{}: {}", result.id, result.because);
  }
  for (const FaultResult& fault : judgement.faults)
    if (!fault.verified && judgement.verdict != Verdict::kPass)
      return fmt::format("fault {}: {}", fault.id, fault.how);
  if (judgement.expectations.empty()) return "the scenario expects nothing, so the run shows nothing";
  return fmt::format("{} of {} expectations hold",
                     std::count_if(judgement.expectations.begin(), judgement.expectations.end(),
                                   [](const auto& r) { return r.verdict == Verdict::kPass; }),
                     judgement.expectations.size());
}

bool refers_to_trouble(const ExpectationSpec& spec) {
  const Oracle* oracle = Catalog<Oracle>::instance().find(spec.oracle);
  if (oracle && (oracle->needs_trouble ? oracle->needs_trouble(spec) : oracle->names_fault)) return true;
  for (const char* key : {"after", "fault"})
    if (spec.params.find(key)) return true;
  for (const char* key : {"ranks", "by"})
    if (const Value* ranks = spec.params.find(key))
      for (const char* word : {"victims", "others", "survivors"})
        if (ranks->text == word) return true;
  return false;
}

// Whether the launcher failed in each attempt before any rank was recorded. A fault that acted by then may be
// the reason, and is judged.
bool is_not_started(const RunFacts& facts, const Judgement& judgement) {
  const auto& faults = judgement.faults;
  if (std::any_of(faults.begin(), faults.end(), [](const FaultResult& f) { return f.verified; }))
    return false;
  return !facts.no_rank.empty() && failed(facts.no_rank.back()) &&
         facts.no_rank.size() == lines_of<events::AttemptBegin>(facts.journal).size();
}

// A job that did not start shows nothing about faults and expectations: a mistake of the command, not a void
// run.
void note_no_rank(const RunFacts& facts, Judgement& judgement) {
  const NoRank& none = facts.no_rank.back();
  judgement.not_started = is_not_started(facts, judgement);
  if (judgement.not_started) {
    judgement.verdict = Verdict::kUnknown;
    judgement.as_it_must_be = false;
    for (FaultResult& fault : judgement.faults) fault.how = "no rank of the job was recorded";
    for (ExpectationResult& result : judgement.expectations) {
      result.verdict = Verdict::kUnknown;
      result.because = "not judged: no rank of the job was recorded";
    }
  }
  if (judgement.verdict == Verdict::kVoid && failed(none)) {
    judgement.verdict = Verdict::kUnknown;
    judgement.as_it_must_be = false;
  }
  const std::string last = none.last.empty() ? "" : ": " + none.last.back();
  judgement.summary = fmt::format("{} ({}{})", no_rank_line(none), none.log, last) +
                      (judgement.not_started ? "" : "; " + judgement.summary);
}

Judgement judge(const RunFacts& facts) {
  Judgement judgement;
  Verdict verdict = Verdict::kPass;
  if (facts.plan.faults_on)
    for (const FaultSpec& fault : facts.plan.scenario.faults)
      judgement.faults.push_back(judge_fault(fault, facts, verdict));
  std::vector<ExpectationResult>& results = judgement.expectations;
  for (const ExpectationSpec& spec : facts.plan.scenario.expect)
    if (is_asked(spec, facts)) results.push_back(judge_one(spec, facts));
  if (trouble_is_off(facts.plan)) results.push_back(implicit("reference", facts));
  if (is_known(facts.teardown) && facts.teardown_reason != "decided" && !has(results, "finished_in_time"))
    results.push_back(implicit("finished_in_time", facts));
  if (const std::string what = not_cleaned_up(facts); !what.empty())
    results.push_back({"clean_up", "clean_up", Verdict::kUnknown, "clean-up is incomplete: " + what, {}});
  if (results.empty()) verdict = std::max(verdict, Verdict::kUnknown);
  for (const ExpectationResult& result : results) verdict = std::max(verdict, result.verdict);
  judgement.verdict = verdict;
  judgement.as_it_must_be = is_as_it_must_be(judgement, must_be_of(facts));
  if (facts.lost_lines > 0) note_lost_lines(facts.lost_lines, judgement);
  judgement.summary = summary_of(judgement);
  if (!facts.no_rank.empty() && (verdict != Verdict::kPass || is_not_started(facts, judgement)))
    note_no_rank(facts, judgement);
  return judgement;
}

int exit_of_verdict(const Judgement& judgement) {
  if (judgement.not_started) return kExitUsage;
  switch (judgement.verdict) {
    case Verdict::kPass:
      return kExitPass;
    case Verdict::kFail:
      return kExitFail;
    case Verdict::kVoid:
    case Verdict::kUnknown:
      break;
  }
  return kExitUnknown;
}

// For a run that is not as expected: a void or unknown verdict is unknown, and a pass or fail is a failure.
int exit_of_outcome(const Judgement& judgement) {
  if (judgement.as_it_must_be) return kExitPass;
  return judgement.verdict == Verdict::kPass ? kExitFail : exit_of_verdict(judgement);
}

}  // namespace rankfault
