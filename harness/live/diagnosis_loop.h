// DiagnosisLoop: decides when to look at the job, diagnoses what was seen, and journals the looks whose
// findings are kept.
//
// It takes a look when nothing moved between two ticks, twice a second while nothing moves (limits pass),
// when a process ended, at growing intervals after an end that is not proven yet, and once at the end of each
// attempt. It also looks twice a second at a job that never rests (one that polls). A proof then needs only
// that the processes it uses stood still.
//
// Most looks are *quick*: they read the state and the newest calls of each lane, so they cost the same after
// a day as after a second. What a quick look proves is proven. It leaves out every other finding. If such a
// finding is new and the job stands still, and also now and then, a *full* look follows, which reads all that
// is kept (lane_window.h). The pauses between looks grow with the cost of a look.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "harness/diagnose/finding.h"
#include "harness/inject/run_delay.h"
#include "harness/journal/journal.h"
#include "harness/observe/observer.h"

namespace rankfault {

struct LookOptions {
  DiagnoseOptions diagnose;
  // Called at a look that is kept, when its findings are journaled and only its state and the evidence are
  // left to write. `proven`: a new finding is.
  std::function<void(bool proven)> written{};
  // Called with the findings that are new or changed, after they are journaled; the job continues meanwhile.
  std::function<void(const Timeline&, const std::vector<Finding>&)> news{};
};

class DiagnosisLoop {
 public:
  DiagnosisLoop(Observer& observer, Journal& journal, LookOptions options = {})
      : observer_(observer), journal_(journal), options_(std::move(options)) {}

  void tick(Instant now);         // takes a look if one is due
  bool look(const char* reason);  // looks now; false when the states moved meanwhile
  // The last look of an attempt; repeated a few times while the states move. Withdraws inferred findings of
  // earlier looks that this one does not make.
  void last_look(const char* reason);

  const FindingsLog& findings() const { return log_; }

 private:
  enum class Why { kMoving, kQuiet, kEnd, kLast };
  bool diagnose_now(const char* reason, Why, bool although_moving);
  // A look at the newest `calls` of each lane, diagnosed; nothing when the job moved and `although_moving` is
  // false.
  struct Seen {
    Timeline timeline;
    Findings findings;
    bool shows_all = true;  // false: the window keeps more calls than this shows
  };
  std::optional<Seen> see(uint64_t calls, bool although_moving);
  bool needs_full_look(const Seen& quick, Why, Instant now) const;
  void keep(const Seen&, const char* reason, bool last);
  bool is_again_due(Instant now);
  void measure_starvation();
  void note_starvation(ProcessView&, Instant look) const;

  Observer& observer_;
  Journal& journal_;
  FindingsLog log_;
  LookOptions options_;
  uint64_t activity_ = 0;   // at the last tick
  uint64_t looked_at_ = 0;  // the activity of the last look
  Instant next_long_look_;  // due even if nothing changes: an inferred finding may reach its threshold
  Instant rests_until_, next_full_look_;
  // Used after an end that its look did not prove: the others may still be on their way to the call that
  // needs the process. 0: no such look is due.
  Duration again_gap_{};
  Instant again_at_;
  bool proved_ = false;                   // by the last look
  std::vector<ProcessId> alive_;          // at the last look
  std::map<ProcessId, RunDelay> delays_;  // since the job last moved
  Instant rested_, measured_;             // when the delays were first and last read
  Instant ticked_;                        // the last tick
  Duration paused_{};                     // how long the tool itself did not run since the job last moved
};

}  // namespace rankfault
