// LimitPolicy: how long one collective may take, by the phase of the program and by its size.
//
// A limit covers two waits: for the slowest peer to come, which depends on the phase, and for the bytes,
// which depends on their number. The longer of the two is the call's: one that is too long costs time when
// something is wrong, one that is too short ends a healthy job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/trainer/collectives.h"

namespace trainer {

// One collective while it is made, as a watchdog's line tells of it.
struct CallInFlight {
  std::string op;    // "all_reduce"
  uint64_t seq = 0;  // its place among the calls of its communicator, from 1
  size_t numel = 0;  // elements of this rank, never times the world size
  Limit limit;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  // "ALLREDUCE seq 56731 numel 467019003 timeout(ms) 600000 ran for 600053 ms"
  std::string told(std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const;
};

// Calls of so few elements carry flags, clocks and counts: they wait for peers, not for bytes.
inline constexpr size_t kSmallCount = 16;

struct LimitPolicy {
  struct BySize {
    size_t from;  // elements
    std::chrono::milliseconds limit;
  };

  Limit train;                       // of every call that nothing below names
  Limit evaluation, small, barrier;  // none: as in training
  Limit checkpoint;                  // none: ten times as in training; it covers a disk, not a network
  std::vector<BySize> sizes;

  Limit of(Phase phase, const std::string& op, size_t numel) const;
  Limit longest() const;  // of any call; none: some call may last for ever
};

// "evaluation:30m,small:5m,barrier:5m"; false, and the policy as it was, for anything else.
bool read_phase_limits(const std::string& text, LimitPolicy* policy);
// "10000000:900s,100000000:30m": from so many elements on.
bool read_size_limits(const std::string& text, LimitPolicy* policy);

}  // namespace trainer
