// agreed: checks that the ranks agree: at each step a reported value has the same bits on all ranks, and
// all of them or none committed the step, reported an error, or made a mark.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

// Something that each rank reports at a step, or does not.
struct Subject {
  std::string what;  // of the mark: "value", "mark", "step_commit", "error_mark"
  std::string name;  // "": any
  const char* text;
};

std::vector<Subject> subjects_of(const ExpectationSpec& spec) {
  std::vector<Subject> out;
  for (const std::string& name : read_texts(spec.params, "values"))
    out.push_back({"value", name, "reported"});
  for (const std::string& name : read_texts(spec.params, "marks")) out.push_back({"mark", name, "marked"});
  for (const std::string& word : read_texts(spec.params, "decisions"))
    out.push_back(word == "commit" ? Subject{"step_commit", "", "committed"}
                                   : Subject{"error_mark", "", "reported an error at"});
  return out;
}

std::string subject_text(const Subject& subject, int64_t step) {
  return subject.name.empty() ? fmt::format("{} step {}", subject.text, step)
                              : fmt::format("{} {} at step {}", subject.text, subject.name, step);
}

// By step and rank. For a step that was repeated after a restart, the last report counts.
using Said = std::map<int64_t, std::map<int, const Mark*>>;

Said said(const RunFacts& facts, const Subject& subject, const std::vector<int>& ranks, Instant from) {
  Said out;
  for (const Mark& mark : facts.marks) {
    if (mark.what != subject.what || (!subject.name.empty() && mark.name != subject.name)) continue;
    if (mark.time < from || std::find(ranks.begin(), ranks.end(), mark.rank) == ranks.end()) continue;
    const Mark*& newest = out[mark.number][mark.rank];
    if (!newest || mark.attempt >= newest->attempt) newest = &mark;
  }
  return out;
}

struct Answer {
  Verdict verdict = Verdict::kPass;
  std::string text;
};

// The answer for a rank that did not report what another rank did: a failure, unless the harness ended it
// first, it left no record, or its record has holes.
Answer silent(const RunFacts& facts, const Subject& subject, int64_t step, int rank, const Mark& other) {
  std::string text =
      fmt::format("rank {} {}, but rank {} did not", other.rank, subject_text(subject, step), rank);
  const auto processes = processes_of(facts, rank);
  if (processes.empty()) return {Verdict::kUnknown, text + ": it has no record"};
  for (const ProcessView* process : processes) {
    if (!whole_marks(*process)) return {Verdict::kUnknown, text + ", as far as its record shows"};
    if (is_known(facts.teardown) && !end_of(facts, process->id))
      return {Verdict::kUnknown, text + " before rankfault ended the run"};
  }
  return {Verdict::kFail, text};
}

Answer judge_step(const RunFacts& facts, const Subject& subject, int64_t step,
                  const std::map<int, const Mark*>& by_rank, const std::vector<int>& ranks) {
  Answer worst;
  const Mark& first = *by_rank.begin()->second;
  for (const int rank : ranks) {
    const auto own = by_rank.find(rank);
    Answer one;
    if (own == by_rank.end())
      one = silent(facts, subject, step, rank, first);
    else if (subject.what == "value" && own->second->value != first.value)
      one = {Verdict::kFail,
             fmt::format("{} at step {} is {:#018x} on rank {} and {:#018x} on rank {}", subject.name, step,
                         first.value, first.rank, own->second->value, rank)};
    if (one.verdict > worst.verdict) worst = std::move(one);
  }
  return worst;
}

// Why the ranks may still have disagreed: overwritten marks may have differed. "": no mark was overwritten.
std::string hole(const RunFacts& facts, const std::vector<int>& ranks) {
  for (const int rank : ranks)
    for (const ProcessView* process : processes_of(facts, rank))
      if (!whole_marks(*process)) return fmt::format("the record of rank {} is not whole", rank);
  return "";
}

Answer judge_subject(const ExpectationSpec& spec, const RunFacts& facts, const Subject& subject,
                     const std::vector<int>& ranks, Instant from) {
  Said all = said(facts, subject, ranks, from);
  const Value* at = spec.params.find("at");
  if (const int64_t step = at ? read_int(*at, "step", -1) : -1; step >= 0)
    std::erase_if(all, [&](const auto& entry) { return entry.first != step; });
  if (all.empty())
    return {Verdict::kUnknown, fmt::format("no rank {} {}", subject.text,
                                           subject.name.empty() ? std::string("any step") : subject.name)};
  Answer worst;
  for (const auto& [step, by_rank] : all) {
    Answer one = judge_step(facts, subject, step, by_rank, ranks);
    if (one.verdict > worst.verdict) worst = std::move(one);
  }
  if (worst.verdict == Verdict::kPass && !at)
    if (const std::string why = hole(facts, ranks); !why.empty()) return {Verdict::kUnknown, why};
  if (worst.verdict == Verdict::kPass)
    worst.text = fmt::format("{} of {} step{}", subject.name.empty() ? subject.text : subject.name,
                             all.size(), all.size() == 1 ? "" : "s");
  return worst;
}

ExpectationResult judge_agreed(const ExpectationSpec& spec, const RunFacts& facts) {
  Instant from;
  std::vector<uint64_t> lines;
  if (spec.params.find("after")) {
    const DeadlineStart fault = deadline_start(spec, "after", facts);
    if (fault.otherwise != Verdict::kPass) return answer(spec, fault.otherwise, fault.what, fault.lines);
    from = fault.begin;
    lines = fault.lines;
  }
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why, lines);
  if (chosen.ranks.size() < 2)
    return answer(spec, Verdict::kUnknown, "agreed needs at least two ranks", lines);
  Answer worst;
  std::string held;
  for (const Subject& subject : subjects_of(spec)) {
    Answer one = judge_subject(spec, facts, subject, chosen.ranks, from);
    if (one.verdict == Verdict::kPass) held += (held.empty() ? "" : ", ") + one.text;
    if (one.verdict > worst.verdict) worst = std::move(one);
  }
  if (worst.verdict != Verdict::kPass) return answer(spec, worst.verdict, worst.text, lines);
  if (held.empty()) return answer(spec, Verdict::kUnknown, "nothing is named", lines);
  return answer(spec, Verdict::kPass, fmt::format("{} agree: {}", ranks_text(chosen.ranks), held), lines);
}

Status check_agreed(const ExpectationSpec& spec, const Scenario& scenario) {
  if (subjects_of(spec).empty())
    return usage_error("agreed needs \"values\", \"decisions\" or \"marks\": what the ranks agree on",
                       spec.pos);
  if (const Value* ranks = spec.params.find("ranks")) {
    const Result<RankSet> set = read_rank_set(*ranks);
    if (set && set->kind == RankSet::Kind::kListed && set->ranks.size() < 2)
      return usage_error("agreed needs at least two ranks", ranks->pos);
  }
  if (scenario.workload.ranks < 2) return usage_error("agreed needs a job of at least two ranks", spec.pos);
  if (const Value* at = spec.params.find("at"); at && !at->find("step"))
    return usage_error("\"at\" must be {step: N}", at->pos);
  return Done{};
}

const Registration<Oracle> kAgreed{{
    .name = "agreed",
    .summary =
        "At each step the ranks reported the same value, and either all of them or none took the decision.",
    .example = "agreed: {values: [weights], decisions: [commit]}",
    .params = {{"values", ParamType::kTextList, false,
                "names of reported values: the same bits on all ranks"},
               {"decisions",
                ParamType::kTextList,
                false,
                "steps committed, or errors reported, by all or by none",
                {"commit", "error"}},
               {"marks", ParamType::kTextList, false, "names of marks: made by all or by none"},
               {"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"},
               {"at", ParamType::kMap, false, "{step: N}; every step when absent"},
               {"after", ParamType::kText, false, "only reports from this fault on"}},
    .check = check_agreed,
    .judge = judge_agreed,
}};

}  // namespace
}  // namespace rankfault
