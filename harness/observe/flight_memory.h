// FlightMemory: what is kept of one flight record's histories while its process runs.
//
// A ring holds only the last records of each lane; drain() copies them before they are overwritten. Only the
// newest are kept (lane_window.h), so that memory and the cost of a look do not grow with the job. A lane
// that overwrites records faster than drain() reads them is read seldom and not in full. Findings on such a
// job rest on its state page and on the sums of its communicators.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "harness/observe/lane_window.h"
#include "harness/observe/ring_reader.h"
#include "harness/observe/seen_files.h"

namespace rankfault {

class FlightMemory {
 public:
  // `folder`: holds the ring and the saved files.
  FlightMemory(std::unique_ptr<RingReader>, std::string folder, uint64_t window = kWindowCalls);

  RingReader& ring() { return *ring_; }
  const RingReader& ring() const { return *ring_; }

  // Reads the new records and lets old ones go. `complete`: see LaneWindow::trim. `entered` gets the return
  // address of each call. `all`: also reads the lanes that overwrite their records unread.
  void drain(bool all, const std::function<bool(uint32_t comm, uint64_t seq)>& complete,
             const std::function<void(uint64_t address)>& entered);

  // Gives a view its history: at least the newest `calls` of each lane, if they are here. The view's lanes
  // say where the history is cut.
  void show(ProcessView&, uint64_t calls) const;

  // Writes what a view shows into files, unless it is there already.
  static void save(const ProcessView&, const std::string& folder, SeenFiles&);
  // Saves the newest `before` calls of each lane, and all that follow until `after` more calls were made.
  void save_around(uint64_t before, uint64_t after, SeenFiles&);

  uint64_t overwritten() const;  // number of records that were lost unread
  uint64_t let_go() const;       // number of records that were read and dropped as old

 private:
  struct Lane {
    explicit Lane(uint64_t window) : kept(window) {}
    LaneWindow kept;
    uint64_t next = 0;
    uint64_t overwritten = 0;
    int pauses = 0;  // number of drains that still skip this lane
    std::vector<uint64_t> torn;
  };
  void drain_lane(uint32_t index, bool all, const std::function<void(uint64_t)>& entered);

  std::unique_ptr<RingReader> ring_;
  std::string folder_;
  uint64_t window_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<uint32_t, std::string> names_;
  SeenFiles* save_to_ = nullptr;  // gets all new records until save_until_
  uint64_t save_until_ = 0;       // compared with calls_
  uint64_t calls_ = 0;            // number of calls that were read
  std::vector<Event> news_;
};

}  // namespace rankfault
