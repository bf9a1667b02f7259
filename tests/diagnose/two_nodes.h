// two_nodes: puts the ranks of a TimelineBuilder on several nodes, whose clocks are known up to an error.
#pragma once

#include <string>
#include <vector>

#include "tests/diagnose/finding_of.h"

namespace rankfault::testing {

inline constexpr Duration kError = 2ms;  // of each node's times: two nodes differ by up to 4ms
inline constexpr Duration kUnsure = 1ms, kSure = 20ms;

inline void put(TimelineBuilder& job, std::vector<int> ranks, const std::string& node, uint64_t host = 1) {
  for (const int r : ranks) {
    job.rank(r).node = node;
    job.rank(r).clock_error = kError;
    job.rank(r).id.host = host;
  }
}

inline const Finding* about(const Findings& found, const std::string& kind, int rank) {
  for (const Finding& f : found.all)
    if (f.kind == kind && f.ranks == std::vector<int>{rank}) return &f;
  return nullptr;
}

inline std::string why_failed(const Finding& f, const std::string& name) {
  for (const Assumption& a : f.assumes)
    if (a.name == name && !a.holds) return a.why;
  return "";
}

inline Timeline launched(const TimelineBuilder& job) {
  Timeline t = job.build();
  t.launcher_ends_all = true;
  return t;
}

}  // namespace rankfault::testing
