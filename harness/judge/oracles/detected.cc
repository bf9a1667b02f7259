// detected: checks that ranks noticed the trouble themselves and in time: by a library's error at a recorded
// call, an error mark, or a log marker.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/judge/oracle_queries.h"
#include "harness/judge/own_errors.h"

namespace rankfault {
namespace {

struct Question {
  DeadlineStart from;
  std::optional<Duration> within;
  std::vector<std::string> as;
};

struct RankVerdict {
  Verdict verdict = Verdict::kUnknown;
  std::string text;
};

bool wanted(const OwnError& error, const Question& q) {
  if (is_known(error.time) && error.time < q.from.begin) return false;
  return q.as.empty() || std::find(q.as.begin(), q.as.end(), error.as) != q.as.end();
}

// `came`: the time of the error, if it came. It could still have come while a process of the rank
// lives, so the time until then counts as its delay.
RankVerdict late_or_missing(const RunFacts& facts, const Question& q, int rank, Instant came,
                            const std::string& text) {
  const auto processes = processes_of(facts, rank);
  if (processes.empty()) return {Verdict::kUnknown, fmt::format("rank {} has no record", rank)};
  const bool alive = std::any_of(processes.begin(), processes.end(),
                                 [&](const ProcessView* p) { return end_of(facts, p->id) == nullptr; });
  if (!is_known(came) && alive) came = is_known(facts.teardown) ? facts.teardown : facts.end;
  if (q.within && is_known(came) && !starved_meanwhile(facts, q.from.at, *q.within, came).empty())
    return {Verdict::kUnknown, text + ", but the host was starved meanwhile"};
  for (const ProcessView* process : processes)
    if (!whole_record(*process)) return {Verdict::kUnknown, text + ", but its record is not whole"};
  if (facts.teardown_reason == "interrupted")
    return {Verdict::kUnknown, text + " before the run was interrupted"};
  return {Verdict::kFail, text};
}

RankVerdict judge_rank(const RunFacts& facts, const Question& q, int rank) {
  const OwnError* late = nullptr;
  const std::vector<OwnError> errors = own_errors(facts, rank);
  const UsualErrors usual(facts, rank, errors);
  std::string only;
  for (const OwnError& error : errors) {
    const std::string shown_in = usual.shown_in(error);
    if (only.empty() || !shown_in.empty()) only = error.text + (shown_in.empty() ? "" : ", " + shown_in);
    if (!wanted(error, q) || !shown_in.empty()) continue;
    if (is_known(error.time) && (!q.within || error.time - q.from.at <= *q.within))
      return {Verdict::kPass, fmt::format("rank {}: {} {} {}", rank, error.text,
                                          span_text(q.from.at, error.time), q.from.what)};
    if (!late) late = &error;
  }
  if (late && !is_known(late->time))
    return {Verdict::kUnknown, fmt::format("rank {}: {}, but a log line has no time", rank, late->text)};
  if (late)
    return late_or_missing(facts, q, rank, late->time,
                           fmt::format("rank {}: {} only {} {}", rank, late->text,
                                       span_text(q.from.at, late->time), q.from.what));
  return late_or_missing(facts, q, rank, Instant{},
                         only.empty() ? fmt::format("rank {} noticed nothing", rank)
                                      : fmt::format("rank {} noticed only: {}", rank, only));
}

ExpectationResult judge_detected(const ExpectationSpec& spec, const RunFacts& facts) {
  const Question q{deadline_start(spec, "after", facts), read_duration(spec.params, "within"),
                   read_texts(spec.params, "as")};
  if (q.from.otherwise != Verdict::kPass) return answer(spec, q.from.otherwise, q.from.what, q.from.lines);
  const ChosenRanks chosen = chosen_ranks(spec, "by", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  std::vector<uint64_t> lines = q.from.lines;
  for (const auto& marker : lines_of<events::LogMarker>(
           facts.journal, [](const events::LogMarker& m) { return m.marker == "error"; }))
    lines.push_back(marker.n);
  const bool one_is_enough = read_text(spec.params, "enough", "all") == "one";
  RankVerdict worst{Verdict::kPass, ""}, best{Verdict::kFail, ""};
  for (const int rank : chosen.ranks) {
    RankVerdict one = judge_rank(facts, q, rank);
    if (best.text.empty() || one.verdict < best.verdict) best = one;
    if (worst.text.empty() || one.verdict > worst.verdict) worst = one;
  }
  const RankVerdict& decisive = one_is_enough ? best : worst;
  return answer(spec, decisive.verdict, decisive.text, lines);
}

bool decided_detected(const ExpectationSpec& spec, const RunFacts& facts) {
  return judge_detected(spec, facts).verdict == Verdict::kPass;
}

const Registration<Oracle> kDetected{{
    .name = "detected",
    .summary =
        "Ranks noticed the trouble themselves and in time: by a library's error, an error mark or a log "
        "marker. An error that the reference run, or this run before the fault, shows too does not count.",
    .example = "detected: {by: others, as: [mismatch, timeout], within: 8s, after: skip}",
    .params =
        {{"by", ParamType::kRankSet, false, "which ranks must notice; all of them when absent"},
         {"as", ParamType::kTextList, false, "the class of the error; any when absent", error_classes()},
         {"within", ParamType::kDuration, false, "how soon"},
         {"after", ParamType::kText, false, "the fault; the first one when absent"},
         {"enough", ParamType::kText, false, "whether all of them must notice, or one", {"all", "one"}}},
    .judge = judge_detected,
    .names_fault = true,
    .decided = decided_detected,
}};

}  // namespace
}  // namespace rankfault
