// Starvation: detects when the host served our own timer late, so that a deadline that the job missed
// meanwhile does not count against the job.
#pragma once

#include "harness/journal/journal.h"

namespace rankfault {

class Starvation {
 public:
  explicit Starvation(Journal& journal) : journal_(journal) {}

  // Call `goes_to_sleep` when the loop goes to sleep, and `woke` with the time at which it wanted to wake and
  // the time at which it did. The journal gets the delays that are large enough to matter, at most one line a
  // second. The longer a run is starved, the more delays one line sums up: about 500 lines, and 500 more each
  // time the starved time grows by a factor of e (3,000 in a day).
  void goes_to_sleep(Instant now);
  void woke(Instant wanted, Instant did);
  void finish();  // writes the delays that no line has yet

 private:
  void note(Instant wanted, Instant did);
  void write_line();

  Journal& journal_;
  Instant awake_since_;
  Duration cpu_then_{};
  Duration late_{};  // the sum of the delays that no line has yet
  Instant since_;    // when the first of them began
  Instant first_, last_;
  Instant next_line_;
};

}  // namespace rankfault
