// Starvation: notices when the host could not serve our own timer, so that a deadline the job missed
// meanwhile is not held against it.
#pragma once

#include "harness/run/journal.h"

namespace rankfault {

class Starvation {
 public:
  explicit Starvation(Journal& journal) : journal_(journal) {}

  // Tells when the loop goes to sleep, when it wanted to wake and when it did; what is late enough to
  // matter is journaled.
  void goes_to_sleep(TimeNs now);
  void woke(TimeNs wanted, TimeNs did);

 private:
  void journal(TimeNs wanted, TimeNs did);

  Journal& journal_;
  TimeNs awake_since_ = 0, cpu_then_ = 0;
  TimeNs next_line_ = 0;
};

}  // namespace rankfault
