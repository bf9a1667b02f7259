#include "harness/live/starvation.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "harness/base/cpu_time.h"

namespace rankfault {
namespace {

// A collective timeout of the catalogue is 1 s; a tenth of it may matter to a deadline.
constexpr Duration kLate = 100ms;
constexpr Duration kLineEvery = 1s;
constexpr int kLinesOfAnAge = 500;

std::string cpu_pressure() {
  std::ifstream in("/proc/pressure/cpu");
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

// The time since the last wake-up that was neither sleep nor our own work was taken from us.
void Starvation::goes_to_sleep(Instant now) {
  if (is_known(awake_since_)) note(awake_since_ + (thread_cpu_time() - cpu_then_), now);
}

void Starvation::woke(Instant wanted, Instant did) {
  awake_since_ = did;
  cpu_then_ = thread_cpu_time();
  note(wanted, did);
}

void Starvation::note(Instant wanted, Instant did) {
  if (did - wanted < kLate) return;
  if (late_ == Duration::zero()) since_ = wanted;
  if (!is_known(first_)) first_ = did;
  late_ += did - wanted;
  last_ = did;
  if (did >= next_line_) write_line();
}

void Starvation::write_line() {
  journal_.write(events::Starved{
      .late_ns = late_, .since = since_, .until = last_, .period_ns = kLate, .pressure = cpu_pressure()});
  late_ = Duration::zero();
  next_line_ = last_ + std::max(kLineEvery, (last_ - first_) / kLinesOfAnAge);
}

void Starvation::finish() {
  if (late_ != Duration::zero()) write_line();
}

}  // namespace rankfault
