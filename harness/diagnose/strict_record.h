// strict_record: what strict_replay reads: each rank's calls in order, with what each needs of other ranks.
#pragma once

#include <optional>
#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

struct StrictPlace {  // a call: of which rank's sequence, and where in it
  size_t rank = 0, at = 0;
};

inline constexpr size_t kNoMeeting = ~size_t{0};

struct StrictCall {
  const Call* call = nullptr;
  const CommGroup* group = nullptr;
  const Member* member = nullptr;
  bool leaves_at_once = false;  // nonblocking, or buffered: only a wait for it holds the rank
  // Calls that must have been started before it completes: of a message its other half, and of a collective
  // all of StrictRecord::meetings[meeting].
  std::vector<StrictPlace> needs;
  size_t meeting = kNoMeeting;
  std::vector<StrictPlace> waits_for;  // of a wait: the calls that it completed
};

struct StrictRecord {
  std::vector<std::vector<StrictCall>> ranks;
  std::vector<std::vector<StrictPlace>> meetings;  // the calls at one place of a communicator, of all members
};

// Nothing where the record does not tell what every run of the program does; see strict_replay.h.
std::optional<StrictRecord> strict_record(const JobView&);

}  // namespace rankfault
