// blamed: checks that the diagnosis names the culprit. The diagnosis does not know what was injected.
#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/finding_words.h"
#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

const std::vector<std::string> kKeys{"kind",       "ranks", "op",       "comm", "seq",
                                     "confidence", "field", "resource", "sides"};

std::vector<int> sorted(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool ranks_match(const Value& wanted, const std::vector<int>& ranks, const RunFacts& facts) {
  if (wanted.list() && wanted.list()->empty()) return ranks.empty();
  const Result<RankSet> set = read_rank_set(wanted);
  return set &&
         sorted(resolve(*set, facts.plan.scenario.workload.ranks, victims_of(facts, ""))) == sorted(ranks);
}

// The finding has exactly the wanted sides.
bool sides_match(const Value& wanted, const std::vector<Side>& sides, const RunFacts& facts) {
  if (!wanted.list() || wanted.list()->size() != sides.size()) return false;
  return std::all_of(wanted.list()->begin(), wanted.list()->end(), [&](const Value& want) {
    return std::any_of(sides.begin(), sides.end(),
                       [&](const Side& side) { return ranks_match(want, side.ranks, facts); });
  });
}

// `wanted` is a number within the finding's range, a range that contains the finding's, or "fired": a place
// within the finding's range at which a fault acted.
bool seq_matches(const Value& wanted, const std::optional<SeqRange>& seq, const RunFacts& facts) {
  if (!seq) return false;
  const auto holds = [&](uint64_t n) { return seq->from <= n && n <= seq->to; };
  if (wanted.text == "fired")
    return std::any_of(facts.gates.begin(), facts.gates.end(),
                       [&](const GateEvent& gate) { return is_known(gate.done) && holds(gate.seq); });
  if (const int64_t* n = std::get_if<int64_t>(&wanted.data)) return holds(static_cast<uint64_t>(*n));
  if (!wanted.map()) return false;
  const auto from = static_cast<uint64_t>(read_int(wanted, "from", 0));
  const auto to = static_cast<uint64_t>(read_int(wanted, "to", INT64_MAX));
  return from <= seq->from && seq->to <= to;
}

bool text_matches(const Value& params, const char* key, const std::string& is) {
  return !params.find(key) || read_text(params, key) == is;
}

bool matches(const Value& wanted, const Finding& finding, const RunFacts& facts) {
  const char* confidence = to_text(finding.confidence);
  if (!text_matches(wanted, "kind", finding.kind) || !text_matches(wanted, "op", finding.op) ||
      !text_matches(wanted, "comm", finding.comm) || !text_matches(wanted, "field", finding.field) ||
      !text_matches(wanted, "confidence", confidence))
    return false;
  if (wanted.find("resource") && finding.resource.find(read_text(wanted, "resource")) == std::string::npos)
    return false;
  if (const Value* ranks = wanted.find("ranks"); ranks && !ranks_match(*ranks, finding.ranks, facts))
    return false;
  if (const Value* sides = wanted.find("sides"); sides && !sides_match(*sides, finding.sides, facts))
    return false;
  const Value* seq = wanted.find("seq");
  return !seq || seq_matches(*seq, finding.seq, facts);
}

bool accepts(const ExpectationSpec& spec, const Finding& finding, const RunFacts& facts) {
  const Value* any_of = spec.params.find("any_of");
  if (!matches(spec.params, finding, facts)) return false;
  if (!any_of) return true;
  return any_of->list() && std::any_of(any_of->list()->begin(), any_of->list()->end(),
                                       [&](const Value& one) { return matches(one, finding, facts); });
}

bool some_expectation_accepts(const Finding& finding, const RunFacts& facts) {
  return std::any_of(
      facts.plan.scenario.expect.begin(), facts.plan.scenario.expect.end(),
      [&](const ExpectationSpec& spec) { return spec.oracle == "blamed" && accepts(spec, finding, facts); });
}

bool is_cause(const Finding& finding) { return names_trouble(finding) && finding.caused_by < 0; }

std::string finding_text(const Finding& finding) {
  if (!finding.text.empty()) return finding.text;
  return finding.ranks.empty() ? finding.kind
                               : fmt::format("{} of {}", finding.kind, ranks_text(finding.ranks));
}

std::vector<uint64_t> finding_lines(const RunFacts& facts, const std::string& kind) {
  return numbers_of(lines_of<events::Finding>(
      facts.journal, [&](const events::Finding& line) { return line.finding.value("kind", "") == kind; }));
}

bool wants_none(const ExpectationSpec& spec) { return read_text(spec.params, "kind") == "none"; }

constexpr const char* kNotKnownToBeSafe =
    "nothing was found wrong, but the record does not show whether the job finished only because MPI buffers";

ExpectationResult judge_none(const ExpectationSpec& spec, const RunFacts& facts) {
  for (const Finding& finding : facts.findings.all)
    if (names_trouble(finding))
      return answer(spec, Verdict::kFail, "no rank was to be blamed, but: " + finding_text(finding),
                    finding_lines(facts, finding.kind));
  if (read_bool(spec.params, "safe", false) && !facts.findings.unsafe.empty())
    return answer(spec, Verdict::kFail, facts.findings.unsafe.front().text,
                  all_numbers<events::Unsafe>(facts));
  if (read_bool(spec.params, "safe", false) && !facts.findings.strict_known)
    return answer(spec, Verdict::kUnknown, kNotKnownToBeSafe);
  return answer(spec, Verdict::kPass, "nothing was found wrong", all_numbers<events::Look>(facts));
}

bool wants_unsafe(const ExpectationSpec& spec) { return read_text(spec.params, "kind") == "unsafe"; }

// `unsafe` describes a hang that did not happen, so an expectation must name it (or say `safe: true`).
ExpectationResult judge_unsafe(const ExpectationSpec& spec, const RunFacts& facts) {
  const std::vector<uint64_t> lines = all_numbers<events::Unsafe>(facts);
  for (const Finding& finding : facts.findings.unsafe)
    if (accepts(spec, finding, facts)) return answer(spec, Verdict::kPass, finding_text(finding), lines);
  if (facts.findings.unsafe.empty() && !facts.findings.strict_known)
    return answer(spec, Verdict::kUnknown, kNotKnownToBeSafe);
  return answer(spec, Verdict::kFail,
                facts.findings.unsafe.empty() ? "the recorded calls need no buffering"
                                              : "found instead: " + facts.findings.unsafe.front().text,
                lines);
}

ExpectationResult judge_blamed(const ExpectationSpec& spec, const RunFacts& facts) {
  const std::vector<Finding>& all = facts.findings.all;
  if (all.empty()) return answer(spec, Verdict::kUnknown, "rankfault never looked at the job");
  if (all.size() == 1 && all.front().kind == "cannot_say")
    return answer(spec, Verdict::kUnknown, "the diagnosis cannot say: " + all.front().text,
                  finding_lines(facts, "cannot_say"));
  if (wants_none(spec)) return judge_none(spec, facts);
  if (wants_unsafe(spec)) return judge_unsafe(spec, facts);
  const Finding* found = nullptr;
  for (const Finding& finding : all)
    if (is_cause(finding) && !found && accepts(spec, finding, facts)) found = &finding;
  if (!found) {
    const bool nothing = std::none_of(all.begin(), all.end(), is_cause);
    return answer(spec, Verdict::kFail,
                  nothing ? "nothing was found wrong" : "found instead: " + finding_text(all.front()),
                  finding_lines(facts, all.front().kind));
  }
  for (const Finding& other : all)
    if (is_cause(other) && other.confidence == Confidence::kProven && !some_expectation_accepts(other, facts))
      return answer(spec, Verdict::kFail, "also blamed, but wrongly: " + finding_text(other),
                    finding_lines(facts, other.kind));
  return answer(spec, Verdict::kPass, finding_text(*found), finding_lines(facts, found->kind));
}

// A proven finding is never withdrawn, and neither is a cause that a proven finding leads to.
bool decided_blamed(const ExpectationSpec& spec, const RunFacts& facts) {
  if (wants_none(spec)) return false;
  const std::vector<Finding>& all = facts.findings.all;
  const auto proven = [](const Finding& f) { return f.confidence == Confidence::kProven; };
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_cause(all[i]) || !accepts(spec, all[i], facts)) continue;
    const bool proven_under_it = std::any_of(all.begin(), all.end(), [&](const Finding& f) {
      return f.caused_by == static_cast<int>(i) && proven(f);
    });
    if (proven(all[i]) || proven_under_it) return true;
  }
  return false;
}

bool names_a_finding(const std::string& kind) { return kind != "none" && kind != "unsafe"; }

Status check_alternative(const Value& one) {
  if (const Value* kind = one.find("kind"); kind && !names_a_finding(kind->text))
    return usage_error(
        fmt::format("\"{}\" is not a finding, so it cannot be an alternative: write blamed: {{kind: {}}}",
                    kind->text, kind->text),
        kind->pos);
  return Done{};
}

Status check_rank_list(const Value& value, int world_size) {
  if (value.list() && value.list()->empty()) return Done{};
  const Result<RankSet> set = read_rank_set(value);
  if (!set) return Error{set.error().kind, set.error().message, value.pos};
  if (set->kind == RankSet::Kind::kListed && set->ranks.back() >= world_size)
    return usage_error(
        fmt::format("rank {} is not in this job: ranks are 0 to {}", set->ranks.back(), world_size - 1),
        value.pos);
  if (set->kind == RankSet::Kind::kSurvivors)
    return usage_error("blamed does not take \"survivors\": list the ranks", value.pos);
  return Done{};
}

Status check_blamed(const ExpectationSpec& spec, const Scenario& scenario) {
  std::vector<const Value*> maps{&spec.params};
  if (const Value* any_of = spec.params.find("any_of")) {
    if (const Status ok = check_any_of(*any_of, kKeys, "blamed"); !ok) return ok;
    for (const Value& one : *any_of->list()) {
      if (Status ok = check_alternative(one); !ok) return ok;
      maps.push_back(&one);
    }
  } else if (!spec.params.find("kind")) {
    return usage_error("blamed needs \"kind\" or \"any_of\"", spec.pos);
  }
  if (const Value* any_of = spec.params.find("any_of");
      any_of && !names_a_finding(read_text(spec.params, "kind")))
    return usage_error(
        fmt::format("kind {} has no alternatives: leave \"any_of\" out", read_text(spec.params, "kind")),
        any_of->pos);
  if (const Value* safe = spec.params.find("safe"); safe && !wants_none(spec))
    return usage_error("\"safe\" belongs to kind none", safe->pos);
  for (const Value* map : maps) {
    if (Status ok = check_finding_words(*map); !ok) return ok;
    if (const Value* ranks = map->find("ranks"))
      if (Status ok = check_rank_list(*ranks, scenario.workload.ranks); !ok) return ok;
  }
  return Done{};
}

bool asks_for_trouble(const ExpectationSpec& spec) { return !wants_none(spec); }

const Registration<Oracle> kBlamed{{
    .name = "blamed",
    .summary = "The diagnosis names this culprit, and proves no other one.",
    .example = "blamed: {kind: missing_call, ranks: [3], op: all_reduce, confidence: proven}",
    .params = {{"kind", ParamType::kText, false, "the finding's kind, or none"},
               {"ranks", ParamType::kAny, false, "exactly these ranks; [] for no rank"},
               {"op", ParamType::kText, false, "the operation"},
               {"comm", ParamType::kText, false, "the communicator as the finding names it: world"},
               {"seq", ParamType::kAny, false,
                "a number in the finding's range, {from, to} around it, or fired"},
               {"confidence", ParamType::kText, false, "proven or inferred", {"proven", "inferred"}},
               {"field", ParamType::kText, false, "of a mismatch: the argument that differs"},
               {"resource", ParamType::kText, false, "of host_resource: part of the path"},
               {"sides", ParamType::kAny, false, "the ranks of each side: [[0], [1, 2]]"},
               {"safe", ParamType::kBool, false,
                "with none: the job does not finish only because MPI buffers (unsafe); unknown where the "
                "record does not show it"},
               {"any_of", ParamType::kAny, false, "alternatives, each a map of the keys above"}},
    .check = check_blamed,
    .judge = judge_blamed,
    .names_fault = true,
    .decided = decided_blamed,
    .needs_trouble = asks_for_trouble,
}};

}  // namespace
}  // namespace rankfault
