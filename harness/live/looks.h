// Looks: decides when to look at the job, diagnoses what was seen, and journals looks whose
// findings are kept.
//
// A look is taken when nothing moved between two ticks, twice a second while nothing moves (limits pass),
// when a process ended, at growing intervals after an end that is not proven yet, and once at the end of each
// attempt. A job that never rests (one that polls) is
// looked at twice a second while it moves: then a proof needs only the processes it uses to have stood still.
//
// Most looks are *quick*: at the state and the newest calls of each lane, which cost the same after a day as
// after a second. What a quick look proves is proven. Anything else that it finds is left out; where it is
// new and the job stands still, and now and then, a *full* look follows, at all that is kept (lane_window.h).
// Looks rest in proportion to what they cost.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "harness/diagnose/finding.h"
#include "harness/inject/run_delay.h"
#include "harness/observe/observer.h"
#include "harness/run/journal.h"

namespace rankfault {

struct LookOptions {
  DiagnoseOptions diagnose;
  // Called with findings that are new or changed, once they are journaled; the job goes on meanwhile.
  std::function<void(const Timeline&, const std::vector<Finding>&)> news;
};

class Looks {
 public:
  Looks(Observer& observer, Journal& journal, LookOptions options = {})
      : observer_(observer), journal_(journal), options_(std::move(options)) {}

  void tick(TimeNs now);          // maybe a look
  bool look(const char* reason);  // now; false when the states moved under it
  // The last one of an attempt; tried again while the states move under it, a few times. Inferred findings
  // that earlier looks had and this one has not are withdrawn.
  void last_look(const char* reason);

  const FindingsLog& findings() const { return log_; }

 private:
  enum class Why { kMoving, kQuiet, kEnd, kLast };
  bool diagnose_now(const char* reason, Why, bool although_moving);
  // A look at so many calls of each lane, diagnosed; nothing when the job moved meanwhile and may not have.
  struct Seen {
    Timeline timeline;
    Findings findings;
    bool shows_all = true;  // that is kept
  };
  std::optional<Seen> see(uint64_t calls, bool although_moving);
  bool needs_full_look(const Seen& quick, Why, TimeNs now) const;
  void keep(const Seen&, const char* reason, bool last);
  bool is_again_due(TimeNs now);
  void measure_starvation();
  void tell_starvation(ProcessView&, TimeNs look) const;

  Observer& observer_;
  Journal& journal_;
  FindingsLog log_;
  LookOptions options_;
  uint64_t activity_ = 0;      // at the last tick
  uint64_t looked_at_ = 0;     // the activity of the last look
  TimeNs next_long_look_ = 0;  // whatever happens: thresholds of inferred findings may pass
  TimeNs rests_until_ = 0, next_full_look_ = 0;
  // After an end that the look at it did not prove: the others may still be on their way to the call that
  // needs the process. 0: no such look is due.
  TimeNs again_gap_ = 0, again_at_ = 0;
  bool proved_ = false;                   // the last look
  std::vector<ProcessId> alive_;          // at the last look
  std::map<ProcessId, RunDelay> delays_;  // since the job last moved
  TimeNs rested_ = 0, measured_ = 0;      // when they were looked at first, and last
  TimeNs ticked_ = 0, paused_ = 0;        // how long the tool itself had no turn since the job last moved
};

}  // namespace rankfault
