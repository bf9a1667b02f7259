// run_delay: see run_delay.h. Reads /proc/PID/task/TID/schedstat: time on a core, time of waiting for one,
// and time slices.
#include "harness/inject/run_delay.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace rankfault {

std::map<int, Duration> RunDelay::now() const {
  std::map<int, Duration> waited;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/" + std::to_string(pid_) + "/task", error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    int thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    std::ifstream in(it->path() / "schedstat");
    uint64_t on_a_core = 0, for_one = 0;
    if (in >> on_a_core >> for_one) waited[thread] = duration_of(for_one);
  }
  return waited;
}

RunDelay::RunDelay(int pid) : pid_(pid) {
  if (pid == 0) return;
  for (const auto& [thread, waited] : now()) threads_[thread] = {waited, waited};
  known_ = !threads_.empty();
}

// For a new thread, `first` is 0.
void RunDelay::look() {
  for (const auto& [thread, waited] : now()) threads_[thread].last = waited;
}

Duration RunDelay::waited() const {
  Duration longest{};
  for (const auto& [thread, waited] : threads_) longest = std::max(longest, waited.last - waited.first);
  return longest;
}

}  // namespace rankfault
