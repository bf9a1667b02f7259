// strict_record: the input of strict_replay: each rank's calls in order, with what each call needs from other
// ranks.
#pragma once

#include <optional>
#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault {

struct StrictPlace {  // a call: the rank that made it, and its position in that rank's sequence
  size_t rank = 0, at = 0;
};

inline constexpr size_t kNoMeeting = ~size_t{0};

struct StrictCall {
  const Call* call = nullptr;
  const CommGroup* group = nullptr;
  const Member* member = nullptr;
  bool leaves_at_once = false;  // nonblocking, or buffered: only a wait for it holds the rank
  // Calls that must have started before this one completes: for a message its other half, for a collective
  // all of StrictRecord::meetings[meeting].
  std::vector<StrictPlace> needs;
  size_t meeting = kNoMeeting;
  std::vector<StrictPlace> waits_for;  // for a wait: the calls that it completed
};

struct StrictRecord {
  std::vector<std::vector<StrictCall>> ranks;
  std::vector<std::vector<StrictPlace>> meetings;  // the calls of all members at one place of a communicator
};

// Returns nothing if the record does not determine what every run of the program does; see strict_replay.h.
std::optional<StrictRecord> strict_record(const JobView&);

}  // namespace rankfault
