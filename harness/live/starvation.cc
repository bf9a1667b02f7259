// starvation: see starvation.h.
#include "harness/live/starvation.h"

#include <time.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace rankfault {
namespace {

// A collective timeout of the catalogue is 1 s; a tenth of it may matter to a deadline.
constexpr TimeNs kLate = 100'000'000;
constexpr TimeNs kLineEvery = 1'000'000'000;
constexpr TimeNs kLinesOfAnAge = 500;

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

// The time since the last wake-up that was neither sleep nor our own work was taken from us.
void Starvation::goes_to_sleep(TimeNs now) {
  if (awake_since_ != 0) note(awake_since_ + (thread_cpu_ns() - cpu_then_), now);
}

void Starvation::woke(TimeNs wanted, TimeNs did) {
  awake_since_ = did;
  cpu_then_ = thread_cpu_ns();
  note(wanted, did);
}

void Starvation::note(TimeNs wanted, TimeNs did) {
  if (did < wanted + kLate) return;
  if (late_ == 0) since_ = wanted;
  if (first_ == 0) first_ = did;
  late_ += did - wanted;
  last_ = did;
  if (did >= next_line_) write_line();
}

void Starvation::write_line() {
  journal_.write(events::Starved{
      .late_ns = late_, .since = since_, .until = last_, .period_ns = kLate, .pressure = cpu_pressure()});
  late_ = 0;
  next_line_ = last_ + std::max(kLineEvery, (last_ - first_) / kLinesOfAnAge);
}

void Starvation::finish() {
  if (late_ != 0) write_line();
}

}  // namespace rankfault
