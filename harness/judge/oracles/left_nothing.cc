// left_nothing: checks that the job left nothing behind, by the census that is taken before clean-up.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "harness/judge/oracle_queries.h"

namespace rankfault {
namespace {

const std::vector<std::string> kKinds{"processes", "shm", "sockets", "temp_files", "sysv", "queues"};

// `one` is the kind of a leftover line, in the singular: "process", "temp_file".
bool is_of(const std::string& one, const std::string& kind) {
  return one == kind || one + "s" == kind || one + "es" == kind;
}

bool is_wanted(const std::vector<std::string>& kinds, const events::LeftoverLine& line) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const std::string& k) { return is_of(line.kind, k); });
}

// The answer when the census does not show everything that the job left; nothing: it does.
std::optional<ExpectationResult> why_unknown(const ExpectationSpec& spec, const RunFacts& facts) {
  if (all_numbers<events::Census>(facts).empty())
    return answer(
        spec, Verdict::kUnknown,
        !is_known(facts.teardown)
            ? "no census was taken"
            : fmt::format("the job did not end by itself ({}), so rankfault did not see what it leaves",
                          facts.teardown_reason));
  if (const auto stopped = all_numbers<events::GuardianStopped>(facts); !stopped.empty())
    return answer(spec, Verdict::kUnknown,
                  "rankfault-guardian was stopped, so rankfault did not see what the job made meanwhile",
                  stopped);
  if (const auto silent = all_numbers<events::CensusUnanswered>(facts); !silent.empty())
    return answer(spec, Verdict::kUnknown,
                  "rankfault-guardian did not answer when rankfault asked what the job left", silent);
  return std::nullopt;
}

struct Left {
  size_t count = 0;
  std::string first;
  std::vector<uint64_t> lines;
};

template <typename E>
Left left_lines(const RunFacts& facts, const std::vector<std::string>& kinds) {
  Left left;
  for (const auto& line : lines_of<E>(facts.journal)) {
    if (!is_wanted(kinds, *line.event)) continue;
    left.lines.push_back(line.n);
    if (left.count++ == 0) left.first = fmt::format("{} {}", line->kind, line->what);
  }
  return left;
}

ExpectationResult judge_left_nothing(const ExpectationSpec& spec, const RunFacts& facts) {
  if (auto unknown = why_unknown(spec, facts)) return *unknown;
  std::vector<std::string> kinds = read_texts(spec.params, "kinds");
  const bool named = !kinds.empty();
  if (!named) kinds = kKinds;
  if (const Left left = left_lines<events::Leftover>(facts, kinds); left.count > 0)
    return answer(spec, Verdict::kFail, fmt::format("{} left behind, first: {}", left.count, left.first),
                  left.lines);
  if (const Left unclear = left_lines<events::UnclearLeftover>(facts, kinds); unclear.count > 0)
    return answer(spec, Verdict::kUnknown,
                  fmt::format("made while the job ran, by an unknown process: {}", unclear.first),
                  unclear.lines);
  std::vector<std::string> seen, unseen;
  for (const std::string& kind : kinds) {
    const auto looked = first_line<events::Census>(
        facts.journal, [&](const events::Census& census) { return keys_to_json(census).contains(kind); });
    (looked ? seen : unseen).push_back(kind);
  }
  // Not every host lists its POSIX queues. The text of the pass then says so.
  if (!unseen.empty() && (named || unseen != std::vector<std::string>{"queues"}))
    return answer(spec, Verdict::kUnknown,
                  fmt::format("the census did not look at {}", fmt::join(unseen, ", ")));
  return answer(spec, Verdict::kPass,
                fmt::format("nothing was left behind (looked at: {}{})", fmt::join(seen, ", "),
                            unseen.empty() ? "" : "; queues cannot be listed here"),
                all_numbers<events::Census>(facts));
}

const Registration<Oracle> kLeftNothing{{
    .name = "left_nothing",
    .summary =
        "After the job's end and before clean-up, the job has left nothing: processes; segments and other "
        "files in /dev/shm; sockets; files in its TMPDIR, in one of its own, and those that it held in /tmp "
        "and /var/tmp; System V segments, semaphores and queues; POSIX queues. Two things make the answer "
        "unknown: an object that appeared meanwhile and whose maker the kernel does not name, and a new file "
        "in a TMPDIR of the workload's own that rankfault did not see the job hold.",
    .example = "left_nothing: [processes, shm, sockets, temp_files]",
    .params = {{"kinds", ParamType::kTextList, false, "the kinds to look for; all of them when absent",
                kKinds}},
    .judge = judge_left_nothing,
}};

}  // namespace
}  // namespace rankfault
