// RingReader: one flight record, read while its writer lives, after it was killed, or years later.
//
// Nothing here trusts the writer: other versions, foreign and short files are refused, offsets out
// of range are left out, a state is taken only when it reads the same twice under one selector, and
// a history record only when its commit word says so before and after the copy.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/printable.h"
#include "harness/base/unique_fd.h"
#include "harness/observe/timeline.h"

namespace rankfault {

class RingReader {
 public:
  static Result<std::unique_ptr<RingReader>> open(const std::string& path);
  // Killed while it made it: no header yet. Not an error of whoever reads.
  static bool half_made(const std::string& path);
  ~RingReader();
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  const ProcessId& id() const { return id_; }
  const std::string& path() const { return path_; }

  // Header, lanes and communicators as they are now; no history. `stable` is false when a state
  // could not be read whole.
  ProcessView view() const;
  // A digest of the words that change when the process does something.
  uint64_t activity() const;
  uint32_t modules_version() const;

  struct LaneRead {
    std::vector<uint64_t> torn;  // claimed and not whole (yet)
    uint64_t next = 0;           // first index not claimed yet
    uint64_t lost = 0;           // overwritten before this read
  };
  uint32_t lanes_used() const;
  // Whether a lane has claimed more than `from` records; true where that cannot be known.
  bool may_have_spilled(uint32_t lane, uint64_t from) const;
  // Appends the whole records of a lane with index >= from. Records that the disk refused are lost.
  LaneRead read_lane(uint32_t lane, uint64_t from, std::vector<Event>& records);
  // One record; false when it is not whole. `gone` when it was overwritten.
  bool read_record(uint32_t lane, uint64_t index, rf_record& out, bool& gone);

  std::string name(uint32_t offset) const;  // printable UTF-8; "" when out of range

 private:
  RingReader(std::string path, UniqueFd fd, const char* base)
      : path_(std::move(path)), fd_(std::move(fd)), base_(base) {}
  const rf_header& header() const { return *reinterpret_cast<const rf_header*>(base_); }
  const rf_lane& lane(uint32_t index) const {
    return reinterpret_cast<const rf_lane*>(base_ + RF_OFF_LANES)[index];
  }
  const rf_comm& comm(uint32_t index) const {
    return reinterpret_cast<const rf_comm*>(base_ + RF_OFF_COMMS)[index];
  }
  bool has_state_page() const;
  const rf_record* history(uint32_t lane);
  bool read_state(uint32_t lane, rf_state& out) const;
  mutable bool has_state_page_ = false;
  CommView read_comm(uint32_t index) const;

  std::string path_;
  UniqueFd fd_;
  const char* base_;
  ProcessId id_;
  std::array<const rf_record*, RF_MAX_LANES + 1> history_{};
};

}  // namespace rankfault
