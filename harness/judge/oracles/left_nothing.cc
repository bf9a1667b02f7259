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

bool is_wanted(const std::vector<std::string>& kinds, const Json& line) {
  const std::string one = line.value("kind", "");
  return std::any_of(kinds.begin(), kinds.end(), [&](const std::string& k) { return is_of(one, k); });
}

// The answer when the census does not show everything that the job left; nothing: it does.
std::optional<ExpectationResult> why_unknown(const ExpectationSpec& spec, const RunFacts& facts) {
  const auto lines = [&](const char* ev) { return lines_where(facts, ev, [](const Json&) { return true; }); };
  if (lines("census").empty())
    return answer(
        spec, Verdict::kUnknown,
        facts.teardown == 0
            ? "no census was taken"
            : fmt::format("the job did not end by itself ({}), so rankfault did not see what it leaves",
                          facts.teardown_reason));
  if (const auto stopped = lines("guardian_stopped"); !stopped.empty())
    return answer(spec, Verdict::kUnknown,
                  "rankfault-guardian was stopped, so rankfault did not see what the job made meanwhile",
                  stopped);
  if (const auto silent = lines("census_unanswered"); !silent.empty())
    return answer(spec, Verdict::kUnknown,
                  "rankfault-guardian did not answer when rankfault asked what the job left", silent);
  return std::nullopt;
}

struct Left {
  size_t count = 0;
  std::string first;
  std::vector<uint64_t> lines;
};

Left left_lines(const RunFacts& facts, const char* ev, const std::vector<std::string>& kinds) {
  Left left;
  for (const Json& line : facts.journal) {
    if (line.value("ev", "") != ev || !is_wanted(kinds, line)) continue;
    left.lines.push_back(line.value("n", uint64_t{0}));
    if (left.count++ == 0) left.first = fmt::format("{} {}", line.value("kind", ""), line.value("what", ""));
  }
  return left;
}

ExpectationResult judge_left_nothing(const ExpectationSpec& spec, const RunFacts& facts) {
  if (auto unknown = why_unknown(spec, facts)) return *unknown;
  std::vector<std::string> kinds = read_texts(spec.params, "kinds");
  const bool named = !kinds.empty();
  if (!named) kinds = kKinds;
  if (const Left left = left_lines(facts, "leftover", kinds); left.count > 0)
    return answer(spec, Verdict::kFail, fmt::format("{} left behind, first: {}", left.count, left.first),
                  left.lines);
  if (const Left unclear = left_lines(facts, "unclear_leftover", kinds); unclear.count > 0)
    return answer(spec, Verdict::kUnknown,
                  fmt::format("made while the job ran, by an unknown process: {}", unclear.first),
                  unclear.lines);
  std::vector<std::string> seen, unseen;
  for (const std::string& kind : kinds) {
    const auto looked = lines_where(facts, "census", [&](const Json& l) { return l.contains(kind); });
    (looked.empty() ? unseen : seen).push_back(kind);
  }
  // Not every host lists its POSIX queues. The text of the pass then says so.
  if (!unseen.empty() && (named || unseen != std::vector<std::string>{"queues"}))
    return answer(spec, Verdict::kUnknown,
                  fmt::format("the census did not look at {}", fmt::join(unseen, ", ")));
  return answer(spec, Verdict::kPass,
                fmt::format("nothing was left behind (looked at: {}{})", fmt::join(seen, ", "),
                            unseen.empty() ? "" : "; queues cannot be listed here"),
                lines_where(facts, "census", [](const Json&) { return true; }));
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
