// gave_up: collective calls that ranks left by a limit while members they needed had not entered them.
//
// That is a recorded fact at one instant, and stays one whatever happens later: the late member's entry, if
// there is one, is stamped after the instant. All stamps are of one clock (CLOCK_MONOTONIC of one boot).
#pragma once

#include <optional>
#include <vector>

#include "harness/diagnose/patience.h"
#include "harness/diagnose/view.h"

namespace rankfault {

struct GaveUp {
  const Member* member = nullptr;
  const Call* call = nullptr;
  TimeNs at = 0;      // the instant
  Duration limit{0};  // on record for that call; 0: none
  bool by_limit() const { return limit.count() > 0; }
};

struct GivenUp {
  const CommGroup* group = nullptr;
  uint64_t seq = 0;
  TimeNs at = 0;                      // when the first of them gave up
  std::vector<GaveUp> by;             // in order of time
  std::vector<const Member*> late;    // needed, not entered at that instant, and outside any call
  std::vector<const Member*> inside;  // the same, inside another call
};

// The earliest of the job that no other failure explains; none where a member had ended, failed or finished
// before, or where every needed member had come or was held in another call.
std::optional<GivenUp> first_given_up(const JobView&);

// Whether the member had entered that place at the instant.
Known had_entered(const Member&, uint64_t seq, TimeNs at);

// What a late rank did at that instant: "was stopped (state T) from 1.2s to 6.2s of the run", "was in
// file_write of PATH", "was outside any call since it left all_reduce 3 on world".
std::string meanwhile(const JobView&, const GivenUp&, const Member& late);

}  // namespace rankfault
