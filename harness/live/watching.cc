// watching: see watching.h.
#include "harness/live/watching.h"

#include <algorithm>
#include <iterator>

namespace rankfault {
namespace {

bool says_something(const Finding& f) { return f.kind != "none" && f.kind != "cannot_say"; }

}  // namespace

bool found_something(const Findings& findings) { return !findings.nothing_wrong() && !findings.cannot_say(); }

DiagnoseOptions diagnose_options(const WatchOptions* watch) {
  DiagnoseOptions out;
  if (watch) out.slow_after = watch->after;
  return out;
}

// A watched job is told of at once, and its ranks are looked at while they hang.
LookOptions look_options(const WatchOptions* watch, EvidenceTaker& taker) {
  LookOptions out{diagnose_options(watch), {}};
  if (!watch) return out;
  out.news = [watch, &taker](const Timeline& timeline, const std::vector<Finding>& news) {
    std::vector<Finding> told;
    std::copy_if(news.begin(), news.end(), std::back_inserter(told), says_something);
    if (told.empty()) return;
    if (watch->found) watch->found(told);
    if (timeline.job_over || told.front().withdrawn) return;
    const bool first = taker.is_new(timeline);
    const std::vector<RankEvidence>& evidence = taker.take(timeline);
    if (first && watch->evidence && !evidence.empty()) watch->evidence(evidence);
  };
  return out;
}

}  // namespace rankfault
