#include "harness/commands/run_difference.h"

#include <fmt/format.h>

#include <map>

#include "reports/story.h"
#include "reports/words.h"

namespace rankfault {
namespace {

using Facts = std::map<std::string, std::string>;  // what -> its value, in words

// The cause without its confidence: a later look may prove what an earlier one infers.
std::string cause_of(const RunReport& report) {
  const Finding* cause = first_cause(report);
  if (!cause) return "nothing";
  Finding f = *cause;
  f.confidence = Confidence::kProven;
  const std::string line = finding_line(f);
  return line.substr(0, line.rfind(", proven"));
}

Facts facts_of(const RunReport& report) {
  Facts facts{{"verdict", to_text(report.judgement.verdict)}, {"first cause", cause_of(report)}};
  for (const ExpectationResult& result : report.judgement.expectations)
    facts["expectation " + result.id] = to_text(result.verdict);
  for (const FaultResult& fault : report.judgement.faults)
    facts["fault " + fault.id] = fault.verified ? "had its effect" : "had no effect";
  if (report.facts)
    for (const RankEnd& end : report.facts->ends)
      if (end.rank >= 0)
        facts[fmt::format("end of rank {}, attempt {}", end.rank, end.attempt)] = end.status.to_string();
  return facts;
}

}  // namespace

std::vector<std::string> run_differences(const RunReport& before, const RunReport& now) {
  const Facts then = facts_of(before), here = facts_of(now);
  std::vector<std::string> lines;
  const auto value_in = [](const Facts& facts, const std::string& what) {
    const auto at = facts.find(what);
    return at == facts.end() ? std::string("not there") : at->second;
  };
  Facts all = here;
  all.insert(then.begin(), then.end());
  for (const auto& [what, value] : all)
    if (value_in(here, what) != value_in(then, what))
      lines.push_back(fmt::format("{}: {}, was {}", what, value_in(here, what), value_in(then, what)));
  return lines;
}

}  // namespace rankfault
