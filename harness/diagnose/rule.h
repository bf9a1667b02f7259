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

// What a kind means beside other findings of the same job.
struct KindTraits {
  // At one instant, the kind with the smaller number is the cause, and the other one the consequence.
  int precedence = 100;
  bool is_end = false;  // a process ended
  // Members made different calls. A later look at the same call describes the difference better.
  bool compares_calls = false;
  // The blamed rank lives and may still come: the finding explains only the ends of ranks that waited for it.
  bool rank_may_come = false;
  bool says_it_hangs = false;  // also if it is inferred: the job cannot continue
};

struct Rule {
  const char* name;  // the finding kind it makes
  const char* summary;
  std::vector<Finding> (*look)(const JobView&, const DiagnoseOptions&);
  // For docs/reference/findings.md, one or two sentences each: what proves the finding, an example as users
  // see it, and what users do next.
  const char* proof;
  const char* example;
  const char* next;
  KindTraits traits = {};
};

// The traits of a kind; those of KindTraits{} if no rule makes it (none, cannot_say).
const KindTraits& traits_of(const std::string& kind);
inline bool is_end(const Finding& finding) { return traits_of(finding.kind).is_end; }

}  // namespace rankfault
