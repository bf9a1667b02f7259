// Injector: answers the gates of parked threads, lets the acts act (harness/inject/acts/), and journals each
// step before and after it. It never decides what to do: the plan has decided.
//
// One Injector serves all attempts of a run and belongs to the run's loop thread. Only `before_end` blocks.
#pragma once

#include <optional>

#include "harness/inject/act_context.h"

namespace rankfault {

class Injector {
 public:
  // Calls `before_end` before it ends a process, so that the guardian looks at the job's files first: a
  // launcher that has lost one rank may kill the others within a millisecond. `job_tmp` is the job's TMPDIR,
  // whose files faults may change; "": they may change none. `load` starts `per_core` busy processes on each
  // core that process `pid` may use, or ends those of the tag when `per_core` is 0.
  Injector(const Plan&, const ControlPage&, Journal&, UndoList&, int guardian_pid,
           std::function<void()> before_end = {}, std::string job_tmp = "",
           std::function<Status(uint32_t tag, int pid, int per_core)> load = {});

  void begin_attempt(int attempt) { run_.attempt = attempt; }
  // Call after the doorbell rang: looks at every slot once.
  void serve();
  // Call now and then: performs acts that are due (SIGCONT after a stop), checks for expected effects, and
  // journals firings that were granted beforehand.
  void tick();
  void process_ended(const ProcessId&, Instant when);
  // The guardian's answer to the load of that tag: 0, or the errno for which no process was started.
  void loaded(uint32_t tag, int error);
  // No attempt follows: journals what was still being measured.
  void finish();
  std::optional<SentSignal> signal_sent(const ProcessId&) const;
  bool has_nothing_to_do() const { return run_.plan.actions.empty(); }
  uint64_t firings() const { return firings_; }  // grows with each fault that begins or is done
  bool any_park_open() const { return !parked_.empty(); }

 private:
  struct Parked {  // a slot that we have answered or acted on
    const Action* action = nullptr;
    ProcessId process;
    int rank = -1;
    bool answered = false;
    Instant answered_at;
  };
  struct Timed {  // an act after a delay
    ActContext context;
    Instant due;
  };

  void asked(uint32_t index, rf_gate_slot&);
  void done(uint32_t index, rf_gate_slot&);
  void abandoned(uint32_t index, rf_gate_slot&);
  void answer(rf_gate_slot&, Parked&, rf_answer, const char* text);
  const char* refusal(const Action&, const ProcessId&);
  bool grant(const Action&, int attempt);
  void let_go(rf_gate_slot&, Parked&);
  void act_while_parked(rf_gate_slot&, Parked&);
  ActContext context_of(const Action&, const ProcessId&, int rank);
  void after_done(const Action&, const ProcessId&, int rank);
  void journal_done(const ActContext&, const std::string& effect, events::FaultDone);
  void tick_timed(Instant now);
  void tick_granted();

  ActRun run_;
  std::function<void()> before_end_;
  uint64_t firings_ = 0;
  std::map<uint32_t, Parked> parked_;  // by slot index
  std::vector<Timed> timed_;
  std::map<uint32_t, uint64_t> granted_seen_;                // by action: `done` already journaled
  std::map<std::pair<uint32_t, int>, uint64_t> granted_in_;  // (action, attempt) -> firings
};

}  // namespace rankfault
