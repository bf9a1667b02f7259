// ActContext: one performance of an act: its action, its victim, and what an act may use.
#pragma once

#include "harness/inject/act_run.h"
#include "harness/plan/external_act.h"

namespace rankfault {

struct ActContext {
  ActRun* run;
  const Action* action;
  ProcessId process;  // the victim
  int rank = -1;
  std::string path_at_gate = {};  // that the victim's call names; "": none, or the victim is at no gate
  uint16_t op_at_gate = RF_OP_NONE;
  bool victim_is_killed = false;  // the act sets it: then the victim is not released, but dies at the gate

  // Journals what is about to be done. Call it before anything is done.
  void intend(const std::string& what) const;
  // Journals an effect in the victim. `more` has the keys that only this effect has.
  void effect(const std::string& what, events::FaultEffect more = {}, Instant when = HostClock::now()) const;
  // Journals an effect on a file, whoever uses it.
  void file_effect(const std::string& what, const std::string& path, events::FaultEffect more = {}) const;

  Status is_ours(const ProcessId&) const;  // it lives, and descends from the guardian
  // Signals a process of this job, and returns in words what was sent.
  Result<std::string> send_signal(const ProcessId&, int signal) const;
  // The same with a signal that may explain the exit status of the process.
  Result<std::string> send_last_signal(const ProcessId&, int signal) const;
};

}  // namespace rankfault
