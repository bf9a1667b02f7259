// unblocked: checks that no rank stays inside a call. Every call that was open at the fault or was entered
// after it returns, or its process ends, within the bound, and no call is open at the end. The work of a
// library's own thread that executes a call counts as a call: its caller may wait where nothing is recorded.
#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

struct Question {
  Instant begin, at;
  std::optional<Duration> within;
  Instant seen_until;  // nothing after this is known

  Instant deadline(Instant start) const { return within ? start + *within : kEndOfTime; }
};

struct Tally {
  Verdict verdict = Verdict::kPass;
  std::string because;
  size_t calls = 0, ranks = 0;
  Duration longest{};
  std::vector<uint64_t> lines;

  void note(Verdict other, std::string why) {
    if (other <= verdict) return;
    verdict = other;
    because = std::move(why);
  }
};

void judge_call(const RunFacts& facts, const Question& q, const ProcessView& process,
                const RecordedCall& call, const RankEnd* end, Tally& tally) {
  const Instant start = std::max(q.at, call.entered());
  const Instant left = call.leave ? call.left() : end ? end->time : Instant{};
  const bool is_over = is_known(left);
  if (is_over && left < q.begin) return;
  ++tally.calls;
  const Instant until = is_over ? left : q.seen_until;
  tally.longest = std::max(tally.longest, lasted(start, until));
  if (is_over && left <= q.deadline(start)) return;
  const std::string where =
      fmt::format("rank {} {} {}", process.rank, is_over ? "was" : "is still",
                  fmt::format("inside {} for {}", op_text(call.op()), span_text(start, until)));
  if (!is_over && q.within && q.seen_until < q.deadline(start))
    return tally.note(Verdict::kUnknown, where + ", and the run ended before the deadline");
  if (q.within) {
    const std::vector<uint64_t> lines = starved_meanwhile(facts, start, *q.within, until);
    tally.lines.insert(tally.lines.end(), lines.begin(), lines.end());
    if (!lines.empty()) return tally.note(Verdict::kUnknown, where + ", but the host was starved meanwhile");
  }
  tally.note(Verdict::kFail,
             q.within ? fmt::format("{}; the limit is {}", where, to_text(*q.within)) : where);
}

void judge_process(const RunFacts& facts, const Question& q, const ProcessView& process, Tally& tally) {
  const RankEnd* end = end_of(facts, process.id);
  if (end && end->time < q.begin) return;
  const Instant begin = records_begin(process);
  if (begin > q.deadline(q.at))
    tally.note(Verdict::kUnknown,
               fmt::format("the calls of rank {} at the fault were overwritten", process.rank));
  if (process.partial & (RF_PARTIAL_LANES | RF_PARTIAL_HISTORY))
    tally.note(Verdict::kUnknown, fmt::format("the record of rank {} is not whole", process.rank));
  const CallHistory history(process, OpenCalls::kByStates);
  const std::vector<const RecordedCall*> calls = communication_calls(history, true);
  if (process.opaque & RF_OPAQUE_COMMUNICATION)
    tally.note(Verdict::kUnknown, fmt::format("rank {} made calls that no decoder reads", process.rank));
  if (calls.empty() && !end && process.stage >= RF_STAGE_MEMBER)
    tally.note(Verdict::kUnknown, fmt::format("the record of rank {} holds no call", process.rank));
  for (const RecordedCall* call : calls) {
    if (!call->enter && call->leave) continue;  // its enter was overwritten: see above
    judge_call(facts, q, process, *call, end, tally);
  }
}

Tally tally_of(const RunFacts& facts, const Question& q, const std::vector<int>& ranks) {
  Tally tally;
  for (const int rank : ranks) {
    const auto processes = processes_of(facts, rank);
    if (processes.empty()) tally.note(Verdict::kUnknown, fmt::format("rank {} has no record", rank));
    for (const ProcessView* process : processes) judge_process(facts, q, *process, tally);
    for (int attempt = 0; attempt <= last_attempt(facts); ++attempt)
      for (const uint64_t line : end_lines(facts, rank, attempt)) tally.lines.push_back(line);
  }
  return tally;
}

ExpectationResult judge_unblocked(const ExpectationSpec& spec, const RunFacts& facts) {
  const DeadlineStart from = deadline_start(spec, "after", facts);
  if (from.otherwise != Verdict::kPass) return answer(spec, from.otherwise, from.what, from.lines);
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  const Question q{from.begin, from.at, read_duration(spec.params, "within"),
                   is_known(facts.teardown) ? facts.teardown : facts.end};
  Tally tally = tally_of(facts, q, chosen.ranks);
  tally.lines.insert(tally.lines.end(), from.lines.begin(), from.lines.end());
  if (tally.verdict != Verdict::kPass) return answer(spec, tally.verdict, tally.because, tally.lines);
  if (tally.calls == 0)
    return answer(spec, Verdict::kUnknown,
                  fmt::format("{} made no call {}", ranks_text(chosen.ranks), from.what), tally.lines);
  return answer(spec, Verdict::kPass,
                fmt::format("{} left every call {} ({} in all), the longest in {}", ranks_text(chosen.ranks),
                            from.what, tally.calls, to_text(tally.longest)),
                tally.lines);
}

// A missed deadline stays missed. A deadline that was kept so far may still be missed.
bool decided_unblocked(const ExpectationSpec& spec, const RunFacts& facts) {
  return judge_unblocked(spec, facts).verdict == Verdict::kFail && spec.params.find("within");
}

const Registration<Oracle> kUnblocked{{
    .name = "unblocked",
    .summary = "Every call that is open at the fault, or entered after it, returns within a bound, or its "
               "process ends.",
    .example = "unblocked: {ranks: all, within: 12s, after: skip}",
    .params = {{"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"},
               {"within", ParamType::kDuration, false,
                "how long a call may last, counted from the fault or from its enter"},
               {"after", ParamType::kText, false, "the fault that blocks them; the first one when absent"}},
    .judge = judge_unblocked,
    .decided = decided_unblocked,
}};

}  // namespace
}  // namespace rankfault
