// readings: the possible ways to count a member's calls if some of them failed. A failed call may have been
// refused; it then takes no place, and all later calls move. A reading says for each failed call whether it
// was refused. The best reading fits the calls of the other members longest. places.h combines the readings
// of all members.
#pragma once

#include <cstdlib>
#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault::readings {

inline bool failed(const Call& c) { return c.status == Call::Status::kFailed; }
inline bool ends_a_sequence(const Call& c) { return c.op() == RF_OP_FINALIZE || c.op() == RF_OP_COMM_FREE; }

inline uint64_t moved(uint64_t place, int64_t by) {
  return static_cast<uint64_t>(static_cast<int64_t>(place) + by);
}

// Whether the library may have refused the call before it began. A refused call returns at once. One that
// lasted longer than any pause of a busy host waited for other ranks. Nor is a call refused that ended its
// rank.
bool may_be_refused(const Member&, const Call&);

// Returns the number of failed calls that are no longer recorded. For an older record, which did not count
// them, it is at least one.
int64_t lost_failures(const Member&);
// Returns how many of these may have been counted although they were refused: a failed message has no place
// in any case.
int64_t lost_places(const Member&);
bool is_over(const Member&);

// The calls that a reading is compared with, by place: those of the members that already have their places.
struct Reference {
  struct Entry {
    const Member* member = nullptr;  // null: no member's call is recorded
    const Call* call = nullptr;
  };
  struct Place {
    Entry first, second;  // second: from another member
  };
  std::vector<Place> places;  // from `first` on
  uint64_t first = 1;
  const Member* without = nullptr;  // ignore the calls of this member
  uint64_t last = ~uint64_t{0};     // a member that makes no more calls made none after this place
  int64_t lost = 0;  // how many of its places may be too high because of calls that are not recorded

  Entry at(uint64_t place) const {
    if (place < first || place - first >= places.size()) return {};
    const Place& at = places[place - first];
    return without && at.first.member == without ? at.second : at.first;
  }
  void add(uint64_t place, Entry entry) {
    if (places.empty()) first = place;
    if (place < first) {
      places.insert(places.begin(), first - place, Place{});
      first = place;
    }
    if (place - first >= places.size()) places.resize(place - first + 1);
    Place& at = places[place - first];
    if (!at.first.call)
      at.first = entry;
    else if (!at.second.call && at.first.member != entry.member)
      at.second = entry;
  }
};

struct Reading {
  int64_t shift = 0;           // the shift of the next calls
  int64_t lost = 0;            // unrecorded calls that are taken as refused; < 0: those of the others
  std::vector<bool> refused;   // for each failed call
  size_t agrees = ~size_t{0};  // index of the first call that does not fit
  // The range of shifts of all readings that fit as well as this one.
  int64_t least_shift = 0, most_shift = 0;

  int64_t cost() const { return std::abs(lost) + std::count(refused.begin(), refused.end(), true); }
};

// Whether the call fits the reference at that place.
bool fits(const Call&, uint64_t place, const Member&, const Reference&, const CommGroup&);

Reading read(const Member&, const Reference&, const CommGroup&);
// Reads the first member, for which there is nothing to compare: all its failed calls get the same reading.
Reading read_alike(const Member&, bool refused);

// Adds a member's calls. Returns the last place of a member that makes no more calls; another member may make
// more.
uint64_t take_calls(Reference&, const Member&, const Reading&);
void take(Reference&, const Member&, const Reading&);  // also adds its bounds
// Returns the place of the member's last call by its own count.
uint64_t last_made(const Member&);

}  // namespace rankfault::readings
