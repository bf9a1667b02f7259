// Injector: answers the gates of parked threads, acts from outside, and journals each step before and after
// it. It never decides what to do: the plan has decided.
//
// One Injector serves all attempts of a run and belongs to the run's loop thread. Only `before_end` blocks.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/base/process_id.h"
#include "harness/base/unique_fd.h"
#include "harness/inject/control_page.h"
#include "harness/inject/limits.h"
#include "harness/inject/run_delay.h"
#include "harness/inject/undo_list.h"
#include "harness/journal/journal.h"
#include "harness/plan/plan.h"

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

  void begin_attempt(int attempt) { attempt_ = attempt; }
  // Call after the doorbell rang: looks at every slot once.
  void serve();
  // Call now and then: performs acts that are due (SIGCONT after a stop), checks for expected effects, and
  // journals firings that were granted beforehand.
  void tick();
  void process_ended(const ProcessId&, TimeNs when);
  // The guardian's answer to the load of that tag: 0, or the errno for which no process was started.
  void loaded(uint32_t tag, int error);
  // No attempt follows: journals what was still being measured.
  void finish();
  // A signal that we sent to a process. It is a source of the process's exit status, and of the time from
  // which the process could do nothing more.
  struct SentSignal {
    int signal = 0;
    TimeNs time = 0;
  };
  std::optional<SentSignal> signal_sent(const ProcessId&) const;
  bool has_nothing_to_do() const { return plan_.actions.empty(); }
  uint64_t firings() const { return firings_; }  // grows with each fault that begins or is done
  bool any_park_open() const { return !parked_.empty(); }
  TimeNs next_due() const;  // the earliest time at which tick() has something to do; 0: none

 private:
  struct Parked {  // a slot that we have answered or acted on
    const Action* action = nullptr;
    ProcessId process;
    int rank = -1;
    bool answered = false;
    TimeNs answered_at = 0;
  };
  struct Timed {  // an act after a delay
    const Action* action = nullptr;
    ProcessId process;
    int rank = -1;
    TimeNs due = 0;
  };
  struct Watched {  // an effect that is not seen yet
    const Action* action = nullptr;
    ProcessId process;
    int rank = -1;
    char state =
        0;  // the state letter of /proc to wait for, or 'r': any but T; Z: the end of its helper or launcher
    TimeNs until = 0;
    ProcessId helper;
  };

  struct Load {  // busy processes on a victim's cores
    const Action* action = nullptr;
    ProcessId process;
    int rank = -1;
    TimeNs began = 0, looked = 0;
    int cores = 0;
    RunDelay delay;
    std::string error;  // why they were not started
  };

  void asked(uint32_t index, rf_gate_slot&);
  void done(uint32_t index, rf_gate_slot&);
  void abandoned(uint32_t index, rf_gate_slot&);
  void answer(rf_gate_slot&, Parked&, rf_answer, const char* text);
  const char* refusal(const Action&, const ProcessId&);
  bool grant(const Action&, int attempt);
  int attempt_of(const ProcessId&) const;
  void let_go(rf_gate_slot&, Parked&);
  void act_while_parked(rf_gate_slot&, Parked&);
  // Performs an outside act. Returns in words what was done, or the error that `refused` makes.
  Result<std::string> act(const Action&, const ProcessId&, int rank, rf_gate_slot*);
  Result<std::string> send_signal(const Action&, const ProcessId&, int signal);
  Result<std::string> signal_helper(const Action&, const ProcessId&, int rank);
  Result<std::string> kill_launcher(const Action&, const ProcessId&, int rank);
  Status is_ours(const ProcessId&) const;  // it lives, and descends from the guardian
  Result<std::string> limit(const Action&, const ProcessId&, int rank);
  Result<std::string> unlimit(const Action&, const ProcessId&, int rank);
  Result<std::string> load(const Action&, const ProcessId&, int rank);
  Result<std::string> unload(const Action&);
  void look_at_loads(TimeNs now);
  void journal_load(const Load&);
  Result<std::string> harm_files(const Action&, rf_gate_slot*);
  Result<std::string> harm_run_files(const Action&);
  Result<std::string> leave_stale(const Action&, rf_gate_slot*);
  void after_done(const Action&, const ProcessId&, int rank);
  void journal_done(const Action&, const ProcessId&, int rank, const char* effect, const Json& more);
  void tick_timed(TimeNs now);
  void tick_watched(TimeNs now);
  bool helper_seen(const Watched&, TimeNs now);
  void tick_granted();
  Json base(const Action&, const ProcessId&, int rank) const;

  const Plan& plan_;
  const ControlPage& page_;
  Journal& journal_;
  UndoList& undo_;
  int guardian_pid_;
  std::function<void()> before_end_;
  std::string job_tmp_;
  std::function<Status(uint32_t, int, int)> load_;
  std::vector<Load> loads_;
  int attempt_ = 0;
  uint64_t firings_ = 0;
  std::map<uint32_t, Parked> parked_;  // by slot index
  std::vector<Timed> timed_;
  std::vector<Watched> watched_;
  std::map<uint32_t, uint64_t> granted_seen_;                // by action: `done` already journaled
  std::map<std::pair<uint32_t, int>, uint64_t> granted_in_;  // (action, attempt) -> firings
  std::map<ProcessId, SentSignal> signals_;
  std::map<std::pair<ProcessId, int>, SetLimit> limits_;  // by process and resource
  std::map<ProcessId, int> attempts_;
};

}  // namespace rankfault
