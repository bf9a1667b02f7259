#include "reports/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/base/rank_words.h"

namespace rankfault {

std::string finding_line(const Finding& finding) {
  if (finding.kind == "none") return "none: nothing was found wrong";
  if (finding.kind == "cannot_say") return "cannot say";
  std::string line = finding.kind;
  if (!finding.ranks.empty())
    line += ": " + ranks_text(finding.ranks);
  else
    line += ": no rank blamed";
  if (!finding.op.empty()) line += ", " + finding.op;
  if (!finding.comm.empty()) line += " on " + finding.comm;
  if (finding.seq && finding.seq->from == finding.seq->to)
    line += fmt::format(", call {}", finding.seq->from);
  if (finding.seq && finding.seq->from != finding.seq->to)
    line += fmt::format(", call {} to {}", finding.seq->from, finding.seq->to);
  line += std::string(", ") + to_text(finding.confidence);
  return printable(line + (finding.handled ? ", handled" : ""));
}

std::string side_line(const Side& side) {
  return printable(fmt::format("{}: {}{}", ranks_text(side.ranks), side.what,
                               side.call_site.empty() ? "" : " at " + side.call_site));
}

namespace {

// Returns the text of an effect on one rank without that rank: "exited with 3"; "" for other findings.
std::string told_of_its_rank(const Finding& f) {
  if (f.caused_by < 0 || f.ranks.size() != 1) return "";
  const std::string who = fmt::format("rank {} ", f.ranks.front());
  return f.text.rfind(who, 0) == 0 ? f.text.substr(who.size()) : "";
}

bool same_effect(const Finding& a, const Finding& b) {
  const std::string told = told_of_its_rank(a);
  return !told.empty() && told == told_of_its_rank(b) && a.kind == b.kind && a.confidence == b.confidence &&
         a.op == b.op && a.comm == b.comm && a.caused_by == b.caused_by &&
         (a.seq ? a.seq->from : 0) == (b.seq ? b.seq->from : 0);
}

// Joins equal effects to one finding: "ranks 0 1 3 exited with 3".
std::vector<Finding> folded(const Findings& findings) {
  std::vector<Finding> out;
  std::vector<std::vector<int>> ranks;
  for (const Finding& f : findings.all) {
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const Finding& o) { return same_effect(o, f); });
    if (same == out.end()) {
      out.push_back(f);
      ranks.push_back(f.ranks);
    } else {
      std::vector<int>& all = ranks[static_cast<size_t>(same - out.begin())];
      all.push_back(f.ranks.front());
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (ranks[i].size() < 2 || ranks[i] == out[i].ranks) continue;
    std::sort(ranks[i].begin(), ranks[i].end());
    std::string told = told_of_its_rank(out[i]);
    if (told.rfind("was ", 0) == 0) told = "were " + told.substr(4);
    if (const size_t its = told.find("; its "); its != std::string::npos) told.replace(its, 6, "; their ");
    out[i].ranks = ranks[i];
    out[i].text = fmt::format("{} {}", ranks_text(ranks[i]), told);
  }
  return out;
}

// Whether a line of evidence holds the last words of a rank: "rank 3 wrote: ...".
bool is_last_word(const std::string& line) {
  if (!line.starts_with("rank ")) return false;
  const size_t behind = line.find_first_not_of("0123456789", 5);
  return behind > 5 && behind != std::string::npos && line.compare(behind, 8, " wrote: ") == 0;
}

// Calls that a rank submitted one after the other on one line are shown once.
std::string sides_text(const std::vector<Side>& sides) {
  std::string out;
  for (size_t i = 0; i < sides.size();) {
    size_t end = i + 1;
    while (end < sides.size() && sides[end].ranks == sides[i].ranks && sides[end].op == sides[i].op &&
           sides[end].call_site == sides[i].call_site)
      ++end;
    out += fmt::format("          {}\n", side_line(sides[i]));
    if (end - i > 1)
      out += fmt::format("          {}: {} more {} there\n", ranks_text(sides[i].ranks), end - i - 1,
                         end - i > 2 ? "calls" : "call");
    i = end;
  }
  return out;
}

enum class Detail { kEvidence, kSides };  // of each cause; of the first one

std::string text_of(const std::vector<Finding>& findings, Detail detail) {
  std::string out;
  for (const Finding& finding : findings) {
    out += fmt::format("  {}   {}\n", finding.caused_by < 0 ? "found" : " then", finding_line(finding));
    if (!finding.text.empty()) out += fmt::format("          {}\n", finding.text);
    if (finding.caused_by >= 0) continue;
    if (detail == Detail::kEvidence || &finding == &findings.front()) out += sides_text(finding.sides);
    if (detail != Detail::kEvidence) continue;
    for (const std::string& line : finding.evidence)
      if (is_last_word(line)) out += fmt::format("          {}\n", line);
  }
  return inert_text(out);
}

}  // namespace

std::string findings_text(const Findings& findings) { return text_of(folded(findings), Detail::kEvidence); }

std::string findings_summary(const Findings& findings) { return text_of(folded(findings), Detail::kSides); }

std::string first_cause_text(const Findings& findings) {
  constexpr size_t kSides = 4;
  std::vector<Finding> all = folded(findings);
  if (all.empty()) return "";
  const size_t sides = all[0].sides.size();
  if (sides > kSides) all[0].sides.resize(kSides);
  std::string out = text_of({all[0]}, Detail::kSides);
  if (sides > kSides) out += fmt::format("          and {} more\n", sides - kSides);
  if (all.size() > 1)
    out += fmt::format("   then   {} more finding{}\n", all.size() - 1, all.size() > 2 ? "s" : "");
  return out;
}

std::string unsafe_text(const Findings& findings) {
  std::string out;
  for (const Finding& f : findings.unsafe) {
    out += fmt::format(
        "  unsafe  this did not happen, but MPI allows it (MPI 4.1, 3.5 and 6.14)\n"
        "          {}\n",
        f.text);
    for (const Side& side : f.sides) out += fmt::format("          {}\n", side_line(side));
  }
  return inert_text(out);
}

std::string remarks_text(const Findings& findings) {
  std::string out;
  for (const Finding& f : findings.remarks) {
    out += fmt::format("  remark  {}\n", f.text);
    for (const Side& side : f.sides) out += fmt::format("          {}\n", side_line(side));
  }
  return inert_text(out);
}

std::string losses_text(const events::History& lost) {
  std::string text = fmt::format("the newest {} calls of each thread; {} records are gone", lost.window_calls,
                                 lost.let_go + lost.overwritten);
  if (lost.overwritten != 0)
    text += fmt::format(", {} of them overwritten before they were read (rings lapped {} times)",
                        lost.overwritten, lost.laps);
  if (lost.removed != 0) text += fmt::format("; {} removed from files", lost.removed);
  return text;
}

std::vector<std::string> losses_of(const RunFacts& facts) {
  std::vector<std::string> texts;
  for (const auto& lost : lines_of<events::History>(facts.journal)) texts.push_back(losses_text(*lost.event));
  return texts;
}

std::string python_notes(const RunFacts& facts) {
  std::set<std::string> reasons;
  for (const auto& process : lines_of<events::Process>(facts.journal))
    if (process->python.find(": ") != std::string::npos) reasons.insert(process->python);
  std::string out;
  for (const std::string& reason : reasons)
    out += fmt::format("  note    calls have no Python frames: Python {}\n", reason);
  return inert_text(out);
}

std::string no_rank_text(const RunFacts& facts) {
  std::string out;
  for (const NoRank& none : facts.no_rank) {
    for (const auto& spawned : lines_of<events::Spawned>(facts.journal))
      if (spawned->rank < 0 && spawned->attempt == none.attempt)
        out += fmt::format("  command {}\n", fmt::join(masked_words(spawned->argv), " "));
    out += fmt::format("  launch  {}; the end of {}/{}:\n", no_rank_line(none), facts.run_dir, none.log);
    for (const std::string& line : none.last) out += fmt::format("          {}\n", printable(line));
  }
  return inert_text(out);
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
  return word + (report.judgement.as_it_must_be ? ", as expected" : ", not as expected");
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
  return inert_text(out);
}

}  // namespace rankfault
