// Oracle: a property that must hold; one file each in oracles/, registered in Catalog<Oracle>.
//
// An oracle is a pure function of RunFacts. Without evidence, or over zero ranks, it returns unknown, never
// pass. Every oracle has a test and a canary in which it fails.
#pragma once

#include <vector>

#include "harness/base/catalog.h"
#include "harness/facts/run_facts.h"
#include "harness/judge/verdict.h"
#include "harness/scenario/params.h"

namespace rankfault {

struct VariantRun {  // one run of a scenario that runs in several variants
  std::string id;    // of the variant
  int n = 1;         // number of this run of the variant
  const RunFacts* facts = nullptr;
};

struct Oracle {
  const char* name;     // "unblocked"
  const char* summary;  // one sentence: the property
  const char* example;  // as YAML flow: "unblocked: {ranks: all, within: 12s, after: skip}"
  std::vector<ParamSpec> params = {};
  // Checks beyond the types: fault ids exist, ranks are in range. Null: nothing more to check.
  Status (*check)(const ExpectationSpec&, const Scenario&) = nullptr;
  ExpectationResult (*judge)(const ExpectationSpec&, const RunFacts&);
  bool names_fault = false;  // it can only be judged when faults were on
  // True when no later event of the run can change the answer, so that the tool need not wait for a hung job.
  // Null: decided only at the end. Called with the facts of the run so far.
  bool (*decided)(const ExpectationSpec&, const RunFacts&) = nullptr;
  // Whether these parameters expect something that only a fault (or a bug) can cause: `ended: {exit:
  // nonzero}`. Null: names_fault decides.
  bool (*needs_trouble)(const ExpectationSpec&) = nullptr;
  // Not null: called once, with the runs of all variants, instead of once for each run.
  ExpectationResult (*judge_over)(const ExpectationSpec&, const std::vector<VariantRun>&) = nullptr;
};

// True when the expectation cannot be judged in a run without faults and without the bug: because of its
// oracle, because a parameter names a fault, or because only a fault distinguishes its ranks.
bool refers_to_trouble(const ExpectationSpec&);

// True when the expectation is judged over all variants together.
inline bool is_over_variants(const std::string& name) {
  const Oracle* oracle = Catalog<Oracle>::instance().find(name);
  return oracle && oracle->judge_over;
}
inline bool is_over_variants(const ExpectationSpec& spec) { return is_over_variants(spec.oracle); }

// Pure: the whole judgement, in the order of the scenario.
Judgement judge(const RunFacts&);

bool is_as_it_must_be(const Judgement&, const MustBe&);

// The exit code of one run, by its verdict and by its outcome (as expected, or not).
int exit_of_verdict(const Judgement&);
int exit_of_outcome(const Judgement&);

}  // namespace rankfault
