#include "harness/reproduce/scenario_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/base/rank_words.h"
#include "harness/reproduce/fold.h"
#include "harness/reproduce/same_state.h"

namespace rankfault {
namespace {

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string list(const std::vector<int>& ranks) { return fmt::format("[{}]", fmt::join(ranks, ", ")); }

void comment(std::string& out, const std::string& text) {
  constexpr size_t kWide = 108;
  std::string line = "#";
  std::istringstream words(printable(masked_text(text)));
  for (std::string word; words >> word;) {
    if (line.size() > 1 && line.size() + 1 + word.size() > kWide) out += line + "\n", line = "#";
    line += " " + word;
  }
  out += line + "\n";
}

std::string head(const Case& c, const Replay& replay, const ScenarioForm& form) {
  std::string out;
  comment(out, "Written by `rankfault reproduce`. The evidence said: " + c.state.text);
  for (const CaseEvidence& e : c.evidence)
    comment(out, fmt::format("Evidence: {} {}, {} bytes", e.kind, e.path, e.bytes));
  comment(out, "Digest of the evidence: " + form.evidence_digest);
  if (const std::string folded = folded_text(c); !folded.empty()) comment(out, "Folded: " + folded);
  for (const std::string& known : c.known) comment(out, "Known: " + known);
  for (const std::string& guess : c.guessed) comment(out, "Guessed: " + guess);
  for (const std::string& note : replay.notes) comment(out, "Added: " + note);
  for (const std::string& question : c.questions) comment(out, "Question: " + question);
  return out;
}

struct Runs {
  const char *launcher, *command, *needs;
  int wall_s = 30;
};
constexpr int kWallOfPython = 60;  // its ranks import PyTorch

Runs runs_of(ReplayOver over) {
  switch (over) {
    case ReplayOver::kC10d:
      return {"torchrun", R"("{bin}/replay/replay.py")", "torch", kWallOfPython};
    case ReplayOver::kC10dNccl:
      return {"torchrun", R"("{bin}/replay/replay.py", --backend=nccl)", "torch_cuda, nccl >= 2.27",
              kWallOfPython};
    case ReplayOver::kMpi:
      return {"mpirun", R"("{bin}/replay/replay_mpi")", "mpi"};
    case ReplayOver::kGloo:
      return {"local", R"("{bin}/replay/replay_gloo", "--store={store}")", "gloo"};
    case ReplayOver::kNccl:
      return {"local", R"("{bin}/replay/replay_nccl", "--store={store}")", "nccl"};
  }
  return {};
}

// The limit of a call that the small job needs: others give up a rank that is late, or, where nothing proves
// that the job hangs, the job must end by itself after the finding.
const char* limit_of(const Case& c, const Replay& replay) {
  if (c.state.kind == "late_rank") return ", --limit=4s";
  return replay.by_lines() && !c.state.proven ? ", --limit=8s" : "";
}

std::string workload(const Case& c, const Replay& replay, const ScenarioForm& form) {
  const Runs runs = runs_of(form.over);
  std::string out =
      fmt::format("workload:\n  launcher: {}\n  ranks: {}\n", runs.launcher, replay.healthy.size());
  if (form.over == ReplayOver::kC10dNccl || form.over == ReplayOver::kNccl) out += "  cuda: double\n";
  out += fmt::format("  command: [{}{}]\n", runs.command, limit_of(c, replay));
  out +=
      "  env:\n    # What each rank does. A line is: ranks, operation, group, type, count.\n    REPLAY: |\n";
  std::istringstream lines(program_text(replay));
  for (std::string line; std::getline(lines, line);) out += "      " + line + "\n";
  out += fmt::format("  limits: {{wall: {}s, slow_after: 1s, hung_after: 3s}}\n  needs: [{}]\n", runs.wall_s,
                     runs.needs);
  return out;
}

// The operation as the library's record of the replay names it.
std::string recorded_op(ReplayOver over, const std::string& op) {
  const std::string plain = plain_op(op);
  if (plain == "reduce_scatter" && over == ReplayOver::kGloo) return "all_reduce";
  if (plain == "reduce_scatter" && (over == ReplayOver::kC10d || over == ReplayOver::kMpi))
    return "reduce_scatter_block";
  const bool by_torch = over == ReplayOver::kC10d || over == ReplayOver::kC10dNccl;
  return plain == "all_to_allv" && by_torch ? "all_to_all" : plain;
}

// When a fault acts, as its trigger says it.
std::string trigger(const ReplayDivergence& d, const Replay& replay, ReplayOver over) {
  const RankProgram& program = replay.healthy[static_cast<size_t>(d.ranks.front())];
  const std::string op = recorded_op(over, program[d.place].op);
  const auto nth = std::count_if(program.begin(), program.begin() + static_cast<ptrdiff_t>(d.place) + 1,
                                 [&](const CaseCall& call) { return recorded_op(over, call.op) == op; });
  return fmt::format("{{op: {}, nth: {}}}", op, nth);
}

std::string fault(const ReplayDivergence& d, int number, const Replay& replay, const ScenarioForm& form) {
  std::string out = fmt::format("  - id: divergence{}\n    kind: {}\n    ranks: {}\n",
                                number > 1 ? fmt::format("_{}", number) : "", d.fault, list(d.ranks));
  if (d.fault == "start") return out + "    how: never\n";
  if (d.fault == "shm_unlink")
    return out + "    at: {file_op: shm_attach, path: \"/dev/shm/nccl-*\", nth: 1}\n";
  out += fmt::format("    at: {}\n", trigger(d, replay, form.over));
  if (d.fault == "rank_kill" && d.signal != 9) out += fmt::format("    signal: {}\n", d.signal);
  if (d.fault == "rank_exit") out += fmt::format("    code: {}\n", std::max(0, d.code));
  if (d.fault == "delay_call") out += fmt::format("    by: {}s\n", runs_of(form.over).wall_s / 4);
  return out;
}

std::string divergence(const Replay& replay, const ScenarioForm& form) {
  if (replay.by_lines())
    return fmt::format("bug: {{args: [--diverge], stands_for: {}}}\n",
                       quoted(replay.divergences[0].stands_for));
  std::string out = "faults:\n";
  int number = 0;
  for (const ReplayDivergence& d : replay.divergences) out += fault(d, ++number, replay, form);
  return out;
}

// One expectation for each culprit: a live job has one finding for each rank that is late, or one for all. An
// inferred finding never decides a run that goes on, so there it must have been reported.
std::string expectation(const Case& c, const std::string& kind, bool is_bug) {
  std::string out = "expect:\n";
  if (!c.state.resource.empty())
    return out + fmt::format("  - reported: {{kind: {}, saying: {}}}\n", kind, c.state.resource);
  const std::vector<std::string> kinds = equal_kinds(kind);
  if (kinds.size() > 1) {
    for (const int rank : c.state.culprits) {
      std::vector<std::string> any;
      for (const std::string& one : kinds) any.push_back(fmt::format("{{kind: {}, ranks: [{}]}}", one, rank));
      out += fmt::format("  - reported: {{any_of: [{}]}}\n", fmt::join(any, ", "));
    }
    return out;
  }
  return out + fmt::format("  - {}: {{kind: {}, ranks: {}}}\n",
                           c.state.proven || is_bug ? "blamed" : "reported", kinds[0],
                           list(c.state.culprits));
}

std::vector<int> numbers_in_evidence(const Case& c) {
  std::vector<int> numbers;
  for (const int rank : c.state.culprits)
    numbers.push_back(c.folded_from.empty() ? rank : c.folded_from[static_cast<size_t>(rank)]);
  return numbers;
}

// The finding follows the fault: with another victim, the expectation fails.
std::string mutation(const Case& c, const Replay& replay, const std::string& expected) {
  const ReplayDivergence& d = replay.divergences.front();
  if (replay.divergences.size() != 1 || replay.by_lines() || d.fault == "shm_unlink" ||
      c.state.waiters.empty())
    return "";
  return fmt::format(
      "teeth:\n  # The finding follows the fault.\n  - {{set: {{faults.divergence.ranks: [{}]}}, must_fail: "
      "{}}}\n",
      c.state.waiters.front(), expected.find("reported") != std::string::npos ? "reported" : "blamed");
}

}  // namespace

const char* to_text(ReplayOver over) {
  static constexpr const char* kWords[] = {"c10d", "c10d-nccl", "mpi", "gloo", "nccl"};
  return kWords[static_cast<size_t>(over)];
}

std::optional<ReplayOver> replay_over_of(const std::string& word) {
  for (const ReplayOver over :
       {ReplayOver::kC10d, ReplayOver::kC10dNccl, ReplayOver::kMpi, ReplayOver::kGloo, ReplayOver::kNccl})
    if (word == to_text(over)) return over;
  return std::nullopt;
}

std::string scenario_text(const Case& c, const Replay& replay, const ScenarioForm& form) {
  std::string summary = fmt::format("{} in {} ranks: {}", c.state.kind, replay.healthy.size(), c.state.text);
  if (numbers_in_evidence(c) != c.state.culprits)
    summary += fmt::format(" (here {})", ranks_text(c.state.culprits));
  const std::string expected =
      expectation(c, form.expected_kind.empty() ? c.state.kind : form.expected_kind, replay.by_lines());
  return head(c, replay, form) +
         fmt::format("version: 1\nname: {}\nsummary: {}\n", quoted(form.name),
                     quoted(printable(masked_text(summary)))) +
         workload(c, replay, form) + divergence(replay, form) + mutation(c, replay, expected) + expected;
}

}  // namespace rankfault
