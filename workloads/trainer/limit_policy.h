// LimitPolicy: how long one collective may take, by the phase of the program and by its size.
//
// A limit covers two waits: the wait for the slowest peer, which depends on the phase, and the transfer,
// which depends on the number of bytes. The call gets the longer of the two limits. A limit that is too long
// delays the end of a hang, and one that is too short ends a healthy job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/trainer/collectives.h"

namespace trainer {

// One collective in progress, with the fields that a watchdog's line shows.
struct CallInFlight {
  std::string op;    // "all_reduce"
  uint64_t seq = 0;  // its place among the calls of its communicator, from 1
  size_t numel = 0;  // elements of this rank, never times the world size
  Limit limit;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  // "ALLREDUCE seq 56731 numel 467019003 timeout(ms) 600000 ran for 600053 ms"
  std::string told(std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const;
};

// Calls of at most this number of elements carry flags, clocks and counts: they wait for peers, not for
// bytes.
inline constexpr size_t kSmallCount = 16;

struct LimitPolicy {
  struct BySize {
    size_t from;  // elements
    std::chrono::milliseconds limit;
  };

  Limit train;                       // for every call without another limit below
  Limit evaluation, small, barrier;  // none: as in training
  Limit checkpoint;  // none: ten times that of training; this call waits for a disk, not for a network
  std::vector<BySize> sizes;

  Limit of(Phase phase, const std::string& op, size_t numel) const;
  Limit longest() const;  // of all calls; none: a call may last for ever
};

// Reads "evaluation:30m,small:5m,barrier:5m". For anything else, returns false and leaves the policy
// unchanged.
bool read_phase_limits(const std::string& text, LimitPolicy* policy);
// Reads "10000000:900s,100000000:30m": each limit applies from that number of elements on.
bool read_size_limits(const std::string& text, LimitPolicy* policy);

}  // namespace trainer
