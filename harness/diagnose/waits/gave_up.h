// gave_up: finds collective calls that ranks left because of a limit before the members that they needed had
// entered.
//
// This is a recorded fact at one instant, and later events do not change it: if the late member enters, its
// entry has a later time stamp. Time stamps come from one clock (CLOCK_MONOTONIC of one boot) or, of other
// nodes, are known up to an error (timing/clocks.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/diagnose/model/view.h"
#include "harness/diagnose/timing/wait_thresholds.h"

namespace rankfault {

struct GaveUp {
  const Member* member = nullptr;
  const Call* call = nullptr;
  Instant at;         // when the member gave up
  Duration limit{0};  // recorded for that call; 0: none
  bool by_limit() const { return limit.count() > 0; }
};

struct GivenUp {
  const CommGroup* group = nullptr;
  uint64_t seq = 0;
  Instant at;                         // when the first of them gave up
  std::vector<GaveUp> by;             // in order of time
  std::vector<const Member*> late;    // needed, not entered at that instant, and outside any call
  std::vector<const Member*> inside;  // needed, not entered at that instant, and inside another call
  std::string unordered;  // why the clocks of two nodes do not tell what a member did before; "": they do
};

// Returns the earliest one of the job that no other failure explains. Returns none if a member had ended,
// failed or finished before, or if every needed member had entered or was held in another call.
std::optional<GivenUp> first_given_up(const JobView&);

// Whether the member had entered that place at that instant.
Known had_entered(const Member&, uint64_t seq, Instant at);

// Describes what a late rank did at that instant: "was stopped (state T) from 1.2s to 6.2s of the run", "was
// in file_write of PATH", "had been outside every call since it left all_reduce 3 on world".
std::string meanwhile(const JobView&, const GivenUp&, const Member& late);

}  // namespace rankfault
