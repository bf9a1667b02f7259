// outcomes: writes a table for the docs with the outcome of each case on each back end: which ranks noticed
// it, how soon, and how the job ended. The same case may rightly end differently on two back ends.
//
// Times are rounded to one digit: they come from one run on one machine, and show orders of magnitude only.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/judge/oracle_queries.h"
#include "harness/judge/own_errors.h"
#include "reports/back_end.h"
#include "reports/report.h"

namespace rankfault {
namespace {

constexpr const char* kHead =
    "| case | back end | wrong | named | noticed by the ranks | how it ended |\n|---|---|---|---|---|---|\n";

std::string rounded(Instant from, Instant to) {
  const double seconds = std::chrono::duration<double>(lasted(from, to)).count();
  if (seconds < 0.001) return "1 ms";
  const double unit = std::pow(10, std::floor(std::log10(seconds)));
  const double one_digit = std::round(seconds / unit) * unit;
  return one_digit < 1 ? fmt::format("{:.0f} ms", one_digit * 1000) : fmt::format("{:.0f} s", one_digit);
}

// Returns the time from which the table counts. A bug has none.
Instant struck_at(const RunFacts& facts) {
  Instant first;
  for (const auto& [id, at] : facts.fault_at)
    if (!is_known(first) || at < first) first = at;
  return first;
}

std::string after(const RunFacts& facts, Instant at) {
  const Instant from = struck_at(facts);
  return !is_known(from) || !is_known(at) ? "" : fmt::format(" after {}", rounded(from, at));
}

Instant first_told(const RunFacts& facts, const std::string& kind) {
  return first_line<events::Finding>(
             facts.journal,
             [&](const events::Finding& line) { return line.finding.value("kind", "") == kind; })
      .t;
}

std::string named(const RunFacts& facts) {
  for (const Finding& f : facts.findings.all) {
    if (f.caused_by >= 0) continue;
    if (!names_trouble(f)) return "no rank";
    return fmt::format("{}{}, {}{}", f.kind, f.ranks.empty() ? "" : ": " + ranks_text(f.ranks),
                       to_text(f.confidence), after(facts, first_told(facts, f.kind)));
  }
  return "no rank";
}

// Returns the first error of each rank after the fault, by class: "peer_lost on ranks 0 1 after 1 ms".
std::string noticed(const RunFacts& facts) {
  std::map<std::string, std::pair<std::vector<int>, Instant>> by_class;
  for (int rank = 0; rank < facts.plan.scenario.workload.ranks; ++rank)
    for (const OwnError& error : own_errors(facts, rank)) {
      if (is_known(error.time) && error.time < struck_at(facts)) continue;
      auto& [ranks, first] = by_class[error.as];
      ranks.push_back(rank);
      if (!is_known(first) || error.time < first) first = error.time;
      break;
    }
  std::string out;
  for (const auto& [as, who] : by_class)
    out += fmt::format("{}{} on {}{}", out.empty() ? "" : "; ", as, ranks_text(who.first),
                       after(facts, who.second));
  return out.empty() ? "no rank" : out;
}

std::string ended(const RunFacts& facts) {
  const int attempt = last_attempt(facts);
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (int rank = 0; rank < facts.plan.scenario.workload.ranks; ++rank) {
    const RankEnd* end = end_of(facts, rank, attempt);
    const std::string text = end ? end_text(end) : "ended by rankfault";
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == text; });
    if (same == groups.end())
      groups.push_back({text, {rank}});
    else
      same->second.push_back(rank);
  }
  std::string out =
      attempt == 0 ? "" : fmt::format("restarted {}, then ", attempt == 1 ? "once" : "more than once");
  if (groups.size() == 1) return out + "all " + groups[0].first;
  std::vector<std::string> parts;
  for (const auto& [text, ranks] : groups) parts.push_back(ranks_text(ranks) + " " + text);
  return out + fmt::format("{}", fmt::join(parts, ", "));
}

std::string wrong(const RunFacts& facts) {
  if (facts.plan.bug_on) return facts.plan.scenario.bug->stands_for;
  std::vector<std::string> kinds;
  for (const FaultSpec& fault : facts.plan.scenario.faults) kinds.push_back(fault.kind);
  return fmt::format("{}", fmt::join(kinds, ", "));
}

std::string cell(std::string text) {
  for (size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.replace(i, 1, "\\|");
  return text;
}

// Whether the run has a fault or a bug and is neither a mutation check nor a canary.
bool is_a_case(const RunReport& report) {
  if (!report.facts || !report.skipped.empty()) return false;
  const Plan& plan = report.facts->plan;
  const bool trouble = (plan.faults_on && !plan.scenario.faults.empty()) || plan.bug_on;
  return trouble && plan.tooth.empty() && plan.scenario.must_be.kind != MustBe::Kind::kFail;
}

Result<std::string> write_outcomes(const std::vector<RunReport>& reports) {
  std::map<std::pair<std::string, std::string>, std::string> rows;
  for (const RunReport& report : reports) {
    if (!is_a_case(report)) continue;
    const RunFacts& facts = *report.facts;
    std::string row;
    for (const std::string& text : {case_of(report.scenario), back_end(facts), wrong(facts), named(facts),
                                    noticed(facts), ended(facts)})
      row += fmt::format("| {} ", cell(text));
    rows[{case_of(report.scenario), back_end(facts) + report.scenario}] = row + "|\n";
  }
  std::string out = kHead;
  for (const auto& [key, row] : rows) out += row;
  return out;
}

const Registration<Report> kOutcomes{
    {.name = "outcomes",
     .summary = "A table of cases and back ends: which ranks noticed, how soon, how the job ended.",
     .write = write_outcomes}};

}  // namespace
}  // namespace rankfault
