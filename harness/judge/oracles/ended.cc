// ended: checks how ranks ended: zero, nonzero, a code, or a signal's name (a signal counts as nonzero).
#include "harness/judge/oracles/ended.h"

#include <fmt/format.h>

#include <charconv>

#include "harness/judge/oracle_queries.h"

namespace rankfault {

std::optional<bool> ended_as(const ExitStatus& status, const std::string& wanted) {
  if (wanted == "any") return true;
  if (status.kind == ExitStatus::Kind::kUnknown) return std::nullopt;
  if (wanted == "zero") return status.zero();
  if (wanted == "nonzero") return status.nonzero();
  int code = 0;
  const auto [end, parsed] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), code);
  if (parsed == std::errc() && end == wanted.data() + wanted.size())
    return status.kind == ExitStatus::Kind::kCode && status.value == code;
  Value word;
  word.text = wanted;
  word.data = wanted;
  const Result<int> signal = read_signal(word);
  return signal && status.kind == ExitStatus::Kind::kSignal && status.value == *signal;
}

RankAnswer rank_ended_as(const RunFacts& facts, int rank, int attempt, const std::string& wanted) {
  const RankEnd* end = end_of(facts, rank, attempt);
  const std::string text = fmt::format("rank {} {}", rank, end_text(end));
  if (!end) {
    if (!is_known(facts.teardown))
      return {Verdict::kUnknown,
              fmt::format("rankfault did not see how rank {} of attempt {} ended", rank, attempt)};
    if (facts.teardown_reason == "wall")
      return {Verdict::kFail, text + ": it still ran when the time was over"};
    return {Verdict::kUnknown, fmt::format("{} ({})", text, facts.teardown_reason)};
  }
  const std::optional<bool> as = ended_as(end->status, wanted);
  if (!as) return {Verdict::kUnknown, text};
  return {*as ? Verdict::kPass : Verdict::kFail, text};
}

namespace {

ExpectationResult judge_ended(const ExpectationSpec& spec, const RunFacts& facts) {
  const ChosenRanks chosen = chosen_ranks(spec, "ranks", facts);
  if (chosen.ranks.empty()) return answer(spec, Verdict::kUnknown, chosen.why);
  const std::string wanted = read_text(spec.params, "exit", "any");
  const int attempt = static_cast<int>(read_int(spec.params, "attempt", last_attempt(facts)));
  Verdict verdict = Verdict::kPass;
  std::string because;
  std::vector<uint64_t> lines;
  for (const int rank : chosen.ranks) {
    const RankAnswer one = rank_ended_as(facts, rank, attempt, wanted);
    for (const uint64_t line : end_lines(facts, rank, attempt)) lines.push_back(line);
    if (one.verdict <= verdict) continue;
    verdict = one.verdict;
    because = one.because;
  }
  if (verdict != Verdict::kPass) return answer(spec, verdict, because + "; expected " + wanted, lines);
  return answer(spec, verdict, fmt::format("{} ended as expected: {}", ranks_text(chosen.ranks), wanted),
                lines);
}

Status check_ended(const ExpectationSpec& spec, const Scenario&) {
  const std::string wanted = read_text(spec.params, "exit", "any");
  int code = 0;
  const auto [end, parsed] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), code);
  const bool number = parsed == std::errc() && end == wanted.data() + wanted.size();
  if (wanted == "any" || wanted == "zero" || wanted == "nonzero") return Done{};
  const Value* value = spec.params.find("exit");
  if (number && code >= 0 && code <= 255) return Done{};
  if (!number && read_signal(*value)) return Done{};
  return usage_error(
      fmt::format("\"exit\" must be zero, nonzero, any, a code from 0 to 255 or a signal's name, not \"{}\"",
                  wanted),
      value->pos);
}

bool asks_for_trouble(const ExpectationSpec& spec) {
  const std::string wanted = read_text(spec.params, "exit", "any");
  return wanted != "any" && wanted != "zero" && wanted != "0";
}

const Registration<Oracle> kEnded{{
    .name = "ended",
    .summary = "The ranks ended by themselves, as expected.",
    .example = "ended: {ranks: all, exit: nonzero}",
    .params = {{"ranks", ParamType::kRankSet, false, "which ranks; all of them when absent"},
               {"exit", ParamType::kText, false, "zero, nonzero, a code, a signal's name, or any"},
               {"attempt", ParamType::kInt, false, "the attempt; the last one when absent"}},
    .check = check_ended,
    .judge = judge_ended,
    .needs_trouble = asks_for_trouble,
}};

}  // namespace
}  // namespace rankfault
