// ActRun: what all acts of one run share: the parts of the run that they use, and what they keep between
// acts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/process_id.h"
#include "harness/inject/control_page.h"
#include "harness/inject/undo_list.h"
#include "harness/journal/journal.h"
#include "harness/plan/plan.h"

namespace rankfault {

// What acts of one kind keep during a run: limits that they set, effects that they wait for.
class ActState {
 public:
  virtual ~ActState() = default;
  virtual void tick(Instant /*now*/) {}
  virtual void process_ended(const ProcessId&) {}
  virtual void finish() {}  // no attempt follows
};

// A signal that we sent to a process. It is a source of the process's exit status, and of the time from which
// the process could do nothing more.
struct SentSignal {
  int signal = 0;
  Instant time;
};

struct ActRun {
  const Plan& plan;
  const ControlPage& page;
  Journal& journal;
  UndoList& undo;
  int guardian_pid;
  std::string job_tmp;  // the job's TMPDIR, whose files acts may change; "": they may change none
  // Starts `per_core` busy processes on each core that process `pid` may use, or ends those of the tag when
  // `per_core` is 0.
  std::function<Status(uint32_t tag, int pid, int per_core)> load;

  int attempt = 0;
  std::map<ProcessId, int> attempts = {};        // of processes that reported theirs at a gate
  std::map<ProcessId, SentSignal> signals = {};  // that may have ended the process
  std::map<uint32_t, int> load_answers = {};     // by tag: the guardian's errno for `load`, 0: started
  std::vector<std::unique_ptr<ActState>> states = {};

  // An elastic launcher restarts the ranks within one attempt of the harness. The process then reports its
  // attempt itself.
  int attempt_of(const ProcessId&) const;
  // A line of the kind E about an action, with the keys that each line about a fault has.
  template <typename E>
  E line(const Action& action, const ProcessId& process, int rank) const {
    E line;
    fill(line, action, process, rank);
    return line;
  }
  void fill(events::FaultLine&, const Action&, const ProcessId&, int rank) const;

  // The one state of this type in this run.
  template <typename State>
  State& state() {
    for (const auto& kept : states)
      if (State* found = dynamic_cast<State*>(kept.get())) return *found;
    auto made = std::make_unique<State>();
    State& state = *made;
    states.push_back(std::move(made));
    return state;
  }
};

inline bool is_same_process(const ProcessId& a, const ProcessId& b) {  // an exec keeps the process
  return a.pid == b.pid && a.start == b.start;
}

}  // namespace rankfault
