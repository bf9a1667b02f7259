// SafeBarrier: arrivals are empty files, the decision is a symbolic link.
#include "workloads/trainer/safe_barrier.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "workloads/trainer/file.h"

namespace trainer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(2);
constexpr const char* kMet = "met";
constexpr const char* kNotMet = "not-met";

}  // namespace

SafeBarrier::SafeBarrier(std::string directory, int rank, int size)
    : directory_(std::move(directory)), rank_(rank), size_(size) {
  mkdir(directory_.c_str(), 0700);  // the first rank makes it; a failure shows in the first arrival
}

bool SafeBarrier::wait(std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  arrive();
  for (;; std::this_thread::sleep_for(kPause)) {
    if (const std::string answer = decision(); !answer.empty()) return answer == kMet;
    if (all_arrived()) {
      propose(kMet);
    } else if (Clock::now() >= deadline) {
      propose(kNotMet);
    }
  }
}

bool SafeBarrier::wait_and_believe(std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  arrive();
  for (;; std::this_thread::sleep_for(kPause)) {
    if (all_arrived()) return true;
    if (Clock::now() >= deadline) return false;
  }
}

std::string SafeBarrier::place_of(const std::string& what) const {
  return directory_ + "/" + std::to_string(round_) + "." + what;
}

void SafeBarrier::arrive() {
  ++round_;
  const std::string place = place_of(std::to_string(rank_));
  const File file(open(place.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.is_open()) throw std::runtime_error(system_error("cannot make", place));
}

bool SafeBarrier::all_arrived() const {
  for (int rank = 0; rank < size_; ++rank)
    if (access(place_of(std::to_string(rank)).c_str(), F_OK) != 0) return false;
  return true;
}

std::string SafeBarrier::decision() const {
  char answer[16];
  const ssize_t length = readlink(place_of("decision").c_str(), answer, sizeof answer);
  return length < 0 ? "" : std::string(answer, static_cast<size_t>(length));
}

void SafeBarrier::propose(const char* answer) const {
  const std::string place = place_of("decision");
  if (symlink(answer, place.c_str()) != 0 && errno != EEXIST)
    throw std::runtime_error(system_error("cannot make", place));
}

}  // namespace trainer
