// FlightMemory: what is kept of one flight record's histories while its process runs.
//
// A ring holds the last records of each lane only; drain() copies them before they are overwritten. The
// newest are kept (lane_window.h), so that memory, and what a look costs, do not grow with the job. A lane
// that overwrites records faster than they are read is read seldom, and not in full: what can be said of such
// a job stands on its state page and on the sums of its communicators.
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
  // `folder`: where the ring lies, and what is saved.
  FlightMemory(std::unique_ptr<RingReader>, std::string folder, uint64_t window = kWindowCalls);

  RingReader& ring() { return *ring_; }
  const RingReader& ring() const { return *ring_; }

  // Reads what is new, and lets go what is old. `complete`: see LaneWindow::trim. `entered` gets each return
  // address of a call. With `all`, lanes that overwrite their records unread are read, too.
  void drain(bool all, const std::function<bool(uint32_t comm, uint64_t seq)>& complete,
             const std::function<void(uint64_t address)>& entered);

  // Gives a view its history: at least the newest `calls` of each lane, if they are here. The view's lanes
  // say where it is cut.
  void show(ProcessView&, uint64_t calls) const;

  // Writes what a view shows into files, unless it is there already.
  static void save(const ProcessView&, const std::string& folder, SeenFiles&);
  // So for the newest `before` calls of each lane, and for all that come until `after` more were made.
  void save_around(uint64_t before, uint64_t after, SeenFiles&);

  uint64_t overwritten() const;  // records that were lost so far, unread
  uint64_t let_go() const;       // read, and old

 private:
  struct Lane {
    explicit Lane(uint64_t window) : kept(window) {}
    LaneWindow kept;
    uint64_t next = 0;
    uint64_t overwritten = 0;
    int pauses = 0;  // drains that it is not read at
    std::vector<uint64_t> torn;
  };
  void drain_lane(uint32_t index, bool all, const std::function<void(uint64_t)>& entered);

  std::unique_ptr<RingReader> ring_;
  std::string folder_;
  uint64_t window_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<uint32_t, std::string> names_;
  SeenFiles* save_to_ = nullptr;  // all that comes, until then
  uint64_t save_until_ = 0;       // calls
  uint64_t calls_ = 0;            // that were read
  std::vector<Event> news_;
};

}  // namespace rankfault
