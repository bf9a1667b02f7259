// Starvation: notices when the host could not serve our own timer, so that a deadline the job missed
// meanwhile is not held against it.
#pragma once

#include "harness/run/journal.h"

namespace rankfault {

class Starvation {
 public:
  explicit Starvation(Journal& journal) : journal_(journal) {}

  // Report when the loop goes to sleep, when it wanted to wake and when it did. The journal gets the times
  // that are late enough to matter, at most one line a second. The longer a run is starved, the more of them
  // a line sums up: about 500 lines, and 500 more each time that the starved time grows by a factor of e
  // (3,000 in a day).
  void goes_to_sleep(TimeNs now);
  void woke(TimeNs wanted, TimeNs did);
  void finish();  // writes what no line has yet

 private:
  void note(TimeNs wanted, TimeNs did);
  void write_line();

  Journal& journal_;
  TimeNs awake_since_ = 0, cpu_then_ = 0;
  TimeNs late_ = 0, since_ = 0;  // of what no line has yet: the sum, and where the first of it began
  TimeNs first_ = 0, last_ = 0;
  TimeNs next_line_ = 0;
};

}  // namespace rankfault
