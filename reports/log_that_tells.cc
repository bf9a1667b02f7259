#include "reports/log_that_tells.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <tuple>

#include "harness/base/file_text.h"
#include "harness/base/mask.h"
#include "harness/base/printable.h"

namespace rankfault {
namespace {

// It exited with an error or crashed. A launcher or the clean-up ends a rank by another signal.
bool failed(const RankEnd& end) {
  if (end.status.kind == ExitStatus::Kind::kCode) return end.status.value != 0;
  return end.status.kind == ExitStatus::Kind::kSignal &&
         (end.status.value == SIGABRT || end.status.value == SIGSEGV || end.status.value == SIGBUS ||
          end.status.value == SIGFPE || end.status.value == SIGILL);
}

// A fault may have ended it on purpose.
bool is_victim(const RunFacts& facts, const RankEnd& end) {
  return std::any_of(facts.gates.begin(), facts.gates.end(), [&](const GateEvent& gate) {
    return gate.rank == end.rank && gate.attempt == end.attempt;
  });
}

// The first one of the newest attempt that has one: earlier attempts were recovered from. A victim of a fault
// only if no other rank failed.
const RankEnd* first_failure(const RunFacts& facts) {
  const auto order = [&](const RankEnd& end) {
    return std::tuple(-end.attempt, is_victim(facts, end), end.time);
  };
  const RankEnd* first = nullptr;
  for (const RankEnd& end : facts.ends)
    if (end.rank >= 0 && failed(end) && (!first || order(end) < order(*first))) first = &end;
  return first;
}

// Without a file of its own, a rank wrote to the launcher's log.
std::string log_of(const RunFacts& facts, const RankEnd& end) {
  for (const std::string& name :
       {fmt::format("rank-{}.a{}.log", end.rank, end.attempt), fmt::format("launcher.a{}.log", end.attempt),
        std::string("launcher.a0.log")})
    if (std::find(facts.logs.begin(), facts.logs.end(), name) != facts.logs.end())
      return facts.run_dir + "/logs/" + name;
  return "";
}

// What the rank wrote last. In a log that ranks share, those are the last lines of all of them.
std::vector<std::string> last_lines_in(const std::string& log, const RankEnd& end) {
  constexpr size_t kLines = 5, kColumns = 200, kTail = 32768;
  if (!end.last_words.empty()) return end.last_words;
  std::vector<std::string> lines;
  std::istringstream in(masked_text(tail_of_file(log, kTail)));  // masked before a cut shows half a word
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(line.substr(0, kColumns));
    if (lines.size() > kLines) lines.erase(lines.begin());
  }
  return lines;
}

}  // namespace

std::string log_that_tells(const RunFacts& facts, const std::string& shown) {
  const RankEnd* end = first_failure(facts);
  const std::string log = end ? log_of(facts, *end) : "";
  if (log.empty()) return "";
  std::string out = fmt::format("  log     rank {}, attempt {}, {}: {}\n", end->rank, end->attempt,
                                end->status.to_string(), log);
  for (const std::string& line : last_lines_in(log, *end))
    if (shown.find(fmt::format("rank {} wrote: {}\n", end->rank, printable(line))) == std::string::npos)
      out += fmt::format("          {}\n", printable(line));
  return masked_text(out);
}

}  // namespace rankfault
