// finding_of: small helpers with which the rule tests read a diagnosis.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/diagnose/finding.h"
#include "tests/support/timeline_builder.h"

namespace rankfault::testing {

inline const Finding* finding_of(const Findings& findings, const std::string& kind) {
  for (const Finding& f : findings.all)
    if (f.kind == kind) return &f;
  return nullptr;
}
inline bool assumption_holds(const Finding& f, const std::string& name) {
  for (const Assumption& a : f.assumes)
    if (a.name == name) return a.holds;
  return false;
}
inline std::vector<std::string> failed_assumptions(const Finding& f) {
  std::vector<std::string> names;
  for (const Assumption& a : f.assumes)
    if (!a.holds) names.push_back(a.name);
  return names;
}
inline std::string all_kinds(const Findings& findings) {
  std::string kinds;
  for (const Finding& f : findings.all) kinds += (kinds.empty() ? "" : " ") + f.kind;
  return kinds;
}

}  // namespace rankfault::testing
