// ExternalAct: something that the harness itself does to the job; one file each in harness/inject/acts/,
// registered in Catalog<ExternalAct>.
//
// An action names its act (Action::outside) and carries its arguments: path, size, mode, signal, env and
// delay. The file of an act says what they mean for it. The plan needs only the words and the traits.
#pragma once

#include "harness/base/catalog.h"
#include "harness/plan/plan.h"

namespace rankfault {

struct ActContext;  // harness/inject/act_context.h

enum class ActTime {
  kAtGate,        // while the victim is parked
  kLater,         // Action::delay after the action Action::after; no rank enters a gate for it
  kBeforeTheJob,  // before any process is started, by the launcher or the guardian
  kNever,         // it changes nothing: the file calls of the trigger are recorded in every rank
};

struct ExternalAct {
  const char* name;  // as in plan.json
  ActTime when = ActTime::kAtGate;
  bool may_end_a_process = false;       // a signal counts although it may be one that ends no process
  bool needs_file_calls = false;        // the object for file calls is preloaded, whatever the trigger is
  std::string (*words)(const Action&);  // "truncate ckpt-*.bin to 100 bytes": for `rankfault plan`
  // Null unless the act is for a gate or for later. Returns in words what was done, or the error that
  // `refused` makes.
  Result<std::string> (*perform)(ActContext&) = nullptr;
};

// Acts that other stages perform or look for.
inline constexpr const char* kStartAct = "start";  // performed by the launcher
inline constexpr const char* kMountAct = "mount";  // performed by the guardian
inline constexpr const char* kLoadAct = "load";

// The act of an action; an act without traits when it has none.
const ExternalAct& act_of(const Action&);
inline ActTime time_of(const Action& action) { return act_of(action).when; }
// Whether an act of that name exists; also true of kNoAct.
bool is_act(const std::string& name);

}  // namespace rankfault
