// Starvation: notices when the host could not serve our own timer, so that a deadline the job missed
// meanwhile is not held against it.
#pragma once

#include "harness/run/journal.h"

namespace rankfault {

class Starvation {
 public:
  explicit Starvation(Journal& journal) : journal_(journal) {}

  // Tells when the loop wanted to wake and when it did; journals what is late enough to matter.
  void woke(TimeNs wanted, TimeNs did);

 private:
  Journal& journal_;
  TimeNs next_line_ = 0;
};

}  // namespace rankfault
