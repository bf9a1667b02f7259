// words: see words.h.
#include "reports/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/printable.h"
#include "harness/evidence/calls.h"

namespace rankfault {

std::string finding_line(const Finding& finding) {
  std::string line = finding.kind;
  if (finding.kind == "none") return "none: nothing was found wrong";
  if (finding.kind == "cannot_say") return "nothing can be said";
  if (!finding.ranks.empty())
    line += fmt::format(": rank{} {}", finding.ranks.size() == 1 ? "" : "s", fmt::join(finding.ranks, " "));
  else
    line += ": nobody blamed";
  if (!finding.op.empty()) line += ", " + finding.op;
  if (!finding.comm.empty()) line += " on " + finding.comm;
  if (finding.seq && finding.seq->from == finding.seq->to)
    line += fmt::format(", call {}", finding.seq->from);
  if (finding.seq && finding.seq->from != finding.seq->to)
    line += fmt::format(", call {} to {}", finding.seq->from, finding.seq->to);
  line += finding.confidence == Confidence::kProven ? ", proven" : ", inferred";
  return line + (finding.handled ? ", handled" : "");
}

std::string side_line(const Side& side) {
  return fmt::format("rank{} {}: {}{}", side.ranks.size() == 1 ? "" : "s", fmt::join(side.ranks, " "),
                     side.what, side.call_site.empty() ? "" : " at " + side.call_site);
}

std::string findings_text(const Findings& findings) {
  std::string out;
  for (const Finding& finding : findings.all) {
    out += fmt::format("  {}   {}\n", finding.caused_by < 0 ? "found" : " then", finding_line(finding));
    if (!finding.text.empty()) out += fmt::format("          {}\n", finding.text);
    for (const Side& side : finding.sides) out += fmt::format("          {}\n", side_line(side));
  }
  return out;
}

std::string losses_text(const Json& line) {
  const auto number = [&](const char* key) { return line.value(key, uint64_t{0}); };
  std::string text = fmt::format("the newest {} calls of each thread; {} records are no longer there",
                                 number("window_calls"), number("let_go") + number("overwritten"));
  if (number("overwritten") != 0)
    text += fmt::format(", {} of them overwritten before they were read (rings lapped {} times)",
                        number("overwritten"), number("laps"));
  if (number("removed") != 0) text += fmt::format("; {} removed from files", number("removed"));
  return text;
}

std::vector<std::string> losses_of(const RunFacts& facts) {
  std::vector<std::string> texts;
  for (const Json& line : facts.journal)
    if (line.value("ev", "") == "history") texts.push_back(losses_text(line));
  return texts;
}

std::string evidence_text(const std::vector<RankEvidence>& evidence) {
  std::string out;
  for (const RankEvidence& rank : evidence) {
    out += fmt::format("  rank {:<3} process {}\n", rank.rank, rank.pid);
    for (const std::string& line : short_evidence(rank)) out += fmt::format("          {}\n", line);
  }
  return out;
}

std::string no_rank_text(const RunFacts& facts) {
  std::string out;
  for (const NoRank& none : facts.no_rank) {
    out += fmt::format("  launch  {}; the end of {}/{}:\n", no_rank_line(none), facts.run_dir, none.log);
    for (const std::string& line : none.last) out += fmt::format("          {}\n", printable(line));
  }
  return out;
}

bool is_good(const RunReport& report) { return !report.skipped.empty() || report.judgement.as_it_must_be; }

std::string outcome_line(const RunReport& report) {
  if (!report.skipped.empty()) return "SKIPPED";
  std::string word = to_text(report.judgement.verdict);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
  const MustBe must_be = report.compared ? report.compared->must_be
                         : report.facts  ? report.facts->plan.scenario.must_be
                                         : MustBe{};
  const bool due = must_be.kind == MustBe::Kind::kPass;
  if (due) return word;
  return word + (report.judgement.as_it_must_be ? ", as it must be" : ", which it must not be");
}

std::string replay_line(const RunReport& report) {
  if (!report.file.empty() && report.compared) return fmt::format("rankfault run {}", report.file);
  if (report.file.empty() || !report.facts) return "";
  const Plan& plan = report.facts->plan;
  std::string line = fmt::format("rankfault run {} --seed {}", report.file, plan.seed);
  return plan.tooth.empty() ? line : line + " --teeth";
}

std::string notice_line(const RunReport& report) {
  if (report.cuda_double.empty()) return "";
  return fmt::format(
      "CUDA is a double: host code of NCCL {}, no kernels, no P2P, NVLink or InfiniBand, no speed; not a GPU "
      "result",
      report.cuda_double);
}

std::string scenario_title(const RunReport& report) {
  return report.file.empty() ? report.scenario : report.file;
}

std::string left_behind_text(const std::vector<std::string>& paths) {
  constexpr size_t kMost = 10;
  std::string out;
  for (size_t i = 0; i < paths.size() && i < kMost; ++i)
    out += fmt::format("  left behind, not removed: {}\n", paths[i]);
  if (paths.size() > kMost) out += fmt::format("  left behind, not removed: {} more\n", paths.size() - kMost);
  return out;
}

}  // namespace rankfault
