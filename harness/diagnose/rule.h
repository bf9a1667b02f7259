// Rule: one way in which a job goes wrong, read from a Timeline; one file each in rules/.
//
// A rule only looks and says. What is proven is decided in one place (proof.h): a rule builds the
// edges and ends it relies on, and hands them over to be checked against the assumptions.
#pragma once

#include <vector>

#include "harness/base/catalog.h"
#include "harness/diagnose/finding.h"
#include "harness/diagnose/view.h"

namespace rankfault {

struct Rule {
  const char* name;  // the finding kind it makes
  const char* summary;
  std::vector<Finding> (*look)(const JobView&, const DiagnoseOptions&);
  // For docs/reference/findings.md, one or two sentences each: what proves it, a finding as people see it,
  // and what they do next.
  const char* proof;
  const char* example;
  const char* next;
};

}  // namespace rankfault
