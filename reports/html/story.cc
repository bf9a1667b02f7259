#include "reports/html/story.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/base/rank_words.h"
#include "reports/html/clock.h"
#include "reports/story.h"

namespace rankfault::html {
namespace {

constexpr size_t kMostMoments = 200, kMostEnds = 4;

// How the ranks of the newest attempt ended: "ranks 0 1 exit 3, rank 2 SIGKILL".
std::string ends_in(const RunFacts& facts) {
  std::map<std::string, std::vector<int>> by_end;
  for (const RankEnd& end : facts.ends)
    if (end.attempt == facts.timeline.attempt && end.rank >= 0)
      by_end[end.status.to_string()].push_back(end.rank);
  std::vector<std::string> parts;
  for (auto& [status, ranks] : by_end) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    parts.push_back(fmt::format("{} ended with {}", ranks_text(ranks), status));
  }
  if (parts.size() > kMostEnds) {
    const size_t others = parts.size() - kMostEnds;
    parts.resize(kMostEnds);
    parts.push_back(fmt::format("{} other ends", others));
  }
  const std::string how =
      parts.empty() ? "no end of a rank is known" : fmt::format("{}", fmt::join(parts, ", "));
  if (facts.timeline.attempt == 0) return how;
  return fmt::format("after {} restart{} {}", facts.timeline.attempt, facts.timeline.attempt == 1 ? "" : "s",
                     how);
}

// The findings that have no cause among the others: their lines are moments, those of effects are ends that
// the lanes show.
bool is_cause(const RunFacts& facts, const Json& line) {
  return std::any_of(facts.findings.all.begin(), facts.findings.all.end(), [&](const Finding& f) {
    return f.caused_by < 0 && names_trouble(f) && f.kind == line.value("kind", "") &&
           f.ranks == line.value("ranks", std::vector<int>{}) && f.attempt == line.value("attempt", 0);
  });
}

}  // namespace

std::string page_story(const RunReport& report) {
  if (!report.skipped.empty()) return "It was not run: " + report.skipped;
  if (first_cause(report)) return story_of(report);
  const bool tells = report.facts && !report.facts->findings.all.empty();
  const std::string text = tells ? report.facts->findings.all.front().text : "";  // of `none`, `cannot_say`
  return text.empty() ? story_of(report) : text;
}

std::string ends_text(const RunReport& report) { return report.facts ? ends_in(*report.facts) : ""; }

Json moments_of(const RunReport& report, Instant last_progress) {
  const RunFacts& facts = *report.facts;
  const Clock clock(facts);
  Json out = Json::array();
  const auto add = [&](Instant at, const char* key, const std::string& what, int rank) {
    const bool is_new = std::none_of(out.begin(), out.end(), [&](const Json& known) {
      return known["key"] == key && known["what"] == clean(what);  // inferred first, then proven
    });
    if (is_known(at) && is_new && out.size() < kMostMoments)
      out.push_back({{"t", clock.json(at)}, {"key", key}, {"what", clean(what)}, {"rank", rank}});
  };
  for (const auto& line : lines_of<events::AttemptBegin>(facts.journal))
    if (line->attempt > 0) add(line.t, "A", fmt::format("attempt {} begins", line->attempt), -1);
  for (const auto& [id, at] : facts.fault_at) {
    int rank = -1;
    for (const GateEvent& gate : facts.gates)
      if (gate.fault == id) rank = gate.rank;
    add(at, "F", fmt::format("fault {} has its effect", id), rank);
  }
  add(last_progress, "P", "last collective or message that ended with success", -1);
  for (const auto& line : lines_of<events::Finding>(facts.journal)) {
    const auto ranks = line->finding.value("ranks", std::vector<int>{});
    const std::string kind = line->finding.value("kind", "");
    if (is_cause(facts, line->finding) && !line->finding.value("withdrawn", false))
      add(line.t, "D", "finding: " + kind + (ranks.empty() ? "" : ", " + ranks_text(ranks)),
          ranks.empty() ? -1 : ranks.front());
  }
  add(facts.teardown, "E", "rankfault ends what is left: " + facts.teardown_reason, -1);
  std::stable_sort(out.begin(), out.end(), [](const Json& a, const Json& b) { return a["t"] < b["t"]; });
  return out;
}

}  // namespace rankfault::html
