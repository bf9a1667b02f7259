#include "harness/live/watch_options.h"

#include <algorithm>
#include <iterator>

namespace rankfault {
bool cannot_go_on(const Findings& findings) {
  return std::any_of(findings.all.begin(), findings.all.end(), says_it_hangs);
}

// A user who wants hangs reported early does not want slow ranks reported later.
DiagnoseOptions diagnose_options(const Limits& limits) {
  DiagnoseOptions out;
  if (limits.hung_after.count()) out.hung_after = limits.hung_after;
  if (limits.slow_after.count()) out.slow_after = limits.slow_after;
  out.hung_after = limits.hung_after.count() ? out.hung_after : std::max(out.hung_after, out.slow_after);
  out.slow_after = std::min(out.slow_after, out.hung_after);
  return out;
}

// Findings on a watched job are reported at once, and the tool takes evidence of its ranks while they hang.
LookOptions look_options(const Workload& workload, const WatchOptions* watch, EvidenceTaker& taker) {
  LookOptions out{.diagnose = diagnose_options(workload.limits)};
  if (!watch) return out;
  out.news = [watch, &taker](const Timeline& timeline, const std::vector<Finding>& news) {
    std::vector<Finding> told;
    std::copy_if(news.begin(), news.end(), std::back_inserter(told),
                 [](const Finding& f) { return names_trouble(f); });
    if (told.empty()) return;
    if (watch->found) watch->found(told);
    if (timeline.job_over || told.front().withdrawn) return;
    std::vector<RankEvidence> evidence;
    if (taker.wants(timeline, told)) evidence = taker.take(timeline, told);
    if (watch->evidence && !evidence.empty()) watch->evidence(evidence);
    if (watch->hangs && (!evidence.empty() || std::any_of(told.begin(), told.end(), says_it_hangs)))
      watch->hangs({taker.run().path(), timeline, told, evidence});
  };
  return out;
}

}  // namespace rankfault
