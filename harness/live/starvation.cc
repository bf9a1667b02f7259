// starvation: see starvation.h.
#include "harness/live/starvation.h"

#include <fstream>
#include <string>

namespace rankfault {
namespace {

// A collective timeout of the catalogue is 1 s; a tenth of it is what may matter to a deadline.
constexpr TimeNs kLate = 100'000'000;
constexpr TimeNs kLineEvery = 1'000'000'000;

std::string cpu_pressure() {
  std::ifstream in("/proc/pressure/cpu");
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

void Starvation::woke(TimeNs wanted, TimeNs did) {
  if (did < wanted + kLate || did < next_line_) return;
  next_line_ = did + kLineEvery;
  journal_.write("starved", {{"late_ns", did - wanted}, {"period_ns", kLate}, {"pressure", cpu_pressure()}});
}

}  // namespace rankfault
