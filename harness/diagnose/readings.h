// readings: how a member's calls may be counted where some of them failed. A failed call may have been
// refused, which takes no place, so all later calls move. A reading says of each failed call which it is; the
// best one fits the calls of the other members longest. places.h puts the readings of all members together.
#pragma once

#include <cstdlib>
#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault::readings {

inline bool failed(const Call& c) { return c.status == Call::Status::kFailed; }
inline bool ends_a_sequence(const Call& c) { return c.op() == RF_OP_FINALIZE || c.op() == RF_OP_COMM_FREE; }

inline uint64_t moved(uint64_t place, int64_t by) {
  return static_cast<uint64_t>(static_cast<int64_t>(place) + by);
}

// How many failed calls are no longer on record. Of an older record, which did not count them, one at least.
int64_t lost_failures(const Member&);
// How many of these may have been counted, and refused: a message that fails has no place anyway.
int64_t lost_places(const Member&);
bool is_over(const Member&);

// What a reading is compared with: the calls of those members that have their places, by place.
struct Reference {
  struct Entry {
    const Member* member = nullptr;  // null: nobody's call is on record
    const Call* call = nullptr;
  };
  struct Place {
    Entry first, second;  // second: of another member
  };
  std::vector<Place> places;  // from `first` on
  uint64_t first = 1;
  const Member* without = nullptr;  // as if this one had not been taken
  uint64_t last = ~uint64_t{0};     // a member that is over made none after it
  int64_t lost = 0;                 // how many of its places may be too many: of calls that are not on record

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
  int64_t shift = 0;           // of the calls that come next
  int64_t lost = 0;            // calls that are not on record, taken for refused ones; < 0: of the others
  std::vector<bool> refused;   // of each failed call
  size_t agrees = ~size_t{0};  // index of the first call that does not fit
  // The shifts of all readings that fit as well as this one.
  int64_t least_shift = 0, most_shift = 0;

  int64_t cost() const { return std::abs(lost) + std::count(refused.begin(), refused.end(), true); }
};

// Whether the call, at that place, is one that the reference has there.
bool fits(const Call&, uint64_t place, const Member&, const Reference&, const CommGroup&);

Reading read(const Member&, const Reference&, const CommGroup&);
// Of the first member, which there is nothing to compare with: its own failed calls are read alike.
Reading read_alike(const Member&, bool refused);

// Adds a member's calls. Returns the last place of one that is over; of another one there may be more.
uint64_t take_calls(Reference&, const Member&, const Reading&);
void take(Reference&, const Member&, const Reading&);  // its bounds, too
// The place of its last call, as it counts itself.
uint64_t last_made(const Member&);

}  // namespace rankfault::readings
