// starvation: see starvation.h.
#include "harness/live/starvation.h"

#include <time.h>

#include <fstream>
#include <string>

namespace rankfault {
namespace {

// A collective timeout of the catalogue is 1 s; a tenth of it is what may matter to a deadline.
constexpr TimeNs kLate = 100'000'000;
constexpr TimeNs kLineEvery = 1'000'000'000;

TimeNs thread_cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<TimeNs>(t.tv_sec) * 1'000'000'000u + static_cast<TimeNs>(t.tv_nsec);
}

std::string cpu_pressure() {
  std::ifstream in("/proc/pressure/cpu");
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

// Time since the last waking that was neither sleep nor our own work was taken from us.
void Starvation::goes_to_sleep(TimeNs now) {
  if (awake_since_ != 0) journal(awake_since_ + (thread_cpu_ns() - cpu_then_), now);
}

void Starvation::woke(TimeNs wanted, TimeNs did) {
  awake_since_ = did;
  cpu_then_ = thread_cpu_ns();
  journal(wanted, did);
}

void Starvation::journal(TimeNs wanted, TimeNs did) {
  if (did < wanted + kLate || did < next_line_) return;
  next_line_ = did + kLineEvery;
  journal_.write("starved", {{"late_ns", did - wanted}, {"period_ns", kLate}, {"pressure", cpu_pressure()}});
}

}  // namespace rankfault
