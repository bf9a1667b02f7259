// FaultKind: one kind of trouble; one file each in faults/, registered in Catalog<FaultKind>.
//
// A kind lowers its typed parameters to actions. Afterwards it decides, from the victim's records, whether
// the fault had its effect. A fault that fired without effect makes the run void.
#pragma once

#include <string>
#include <vector>

#include "harness/base/catalog.h"
#include "harness/plan/plan.h"
#include "harness/scenario/params.h"

namespace rankfault {

struct RunFacts;  // harness/facts/run_facts.h

enum class Effect { kVerified, kVoid, kUnknown, kNotFired };

struct EffectReport {
  Effect effect = Effect::kUnknown;
  std::string how;                // "rank 2 ended by SIGKILL 0.4 ms after the gate answered"
  std::vector<uint64_t> journal;  // lines that show it
  Instant at;                     // when the effect began
};

struct LowerContext {
  const Scenario& scenario;
  int ranks;
  uint64_t seed;
  std::vector<int> victims;  // resolved
};

struct FaultKind {
  const char* name;          // "rank_kill"
  const char* summary;       // one sentence
  const char* stands_for;    // the real event
  const char* not_the_same;  // what it does not imitate
  const char* verified_by;   // how its effect is seen in the victim
  const char* example;       // one-line form
  bool ends_ranks = false;   // `survivors` makes sense
  std::vector<ParamSpec> params = {};
  Result<std::vector<Action>> (*lower)(const FaultSpec&, const LowerContext&);
  EffectReport (*verify)(const FaultSpec&, const RunFacts&);
};

}  // namespace rankfault
