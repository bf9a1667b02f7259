// FlightMemory: all that was ever read of one flight record's histories, in order of time.
//
// A ring holds the last records of each lane only. While the run goes on, what is about to be
// overwritten is copied to `.seen` files beside the ring, so that a replay has what the live
// diagnosis had.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "harness/observe/ring_reader.h"

namespace rankfault {

class FlightMemory {
 public:
  // `folder`: where the ring lies. `live`: write `.seen` files; otherwise read those that exist.
  FlightMemory(std::unique_ptr<RingReader>, std::string folder, bool live);

  RingReader& ring() { return *ring_; }
  const RingReader& ring() const { return *ring_; }

  // Reads what is new. Returns the index in events() before which nothing changed.
  size_t drain();
  const std::vector<Event>& events() const { return events_; }

  // Fills history, names, torn records and losses of a view whose lanes say where to cut. `replay`:
  // the lanes' torn lists are given and obeyed instead of filled.
  void fill(ProcessView&, bool replay) const;
  // The same without the history: what is known of it, where it is read again later.
  void fill_words(ProcessView&, bool replay) const;
  // The history of a view that was filled, and nothing is left here.
  std::vector<Event> take(const std::vector<LaneView>& lanes);

 private:
  struct Lane {
    uint64_t next = 0;
    std::vector<uint64_t> torn;
    bool spilled = false;
  };
  using Cut = std::array<const LaneView*, RF_MAX_LANES + 1>;
  static bool within(const Cut&, const Event&);
  void drain_lane(uint32_t index, std::vector<Event>& news);
  void spill(uint32_t index, const std::vector<Event>& news, size_t first_new);
  void read_seen();

  std::unique_ptr<RingReader> ring_;
  std::string folder_;
  bool live_;
  std::array<Lane, RF_MAX_LANES + 1> lanes_;
  std::vector<Event> events_;
};

}  // namespace rankfault
