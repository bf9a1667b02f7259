// Rule: finds one way in which a job goes wrong in a Timeline. Each rule is one file in rules/.
//
// A rule only observes and reports. proof.h alone decides what is proven: a rule builds the edges and ends
// that it relies on and passes them to proof.h, which checks them against the assumptions.
#pragma once

#include <vector>

#include "harness/base/catalog.h"
#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"

namespace rankfault {

struct Rule {
  const char* name;  // the finding kind it makes
  const char* summary;
  std::vector<Finding> (*look)(const JobView&, const DiagnoseOptions&);
  // For docs/reference/findings.md, one or two sentences each: what proves the finding, an example as users
  // see it, and what users do next.
  const char* proof;
  const char* example;
  const char* next;
};

}  // namespace rankfault
