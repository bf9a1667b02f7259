// RingReader: reads one flight record while its writer lives, after the writer was killed, or years later.
//
// The reader does not trust the writer. It refuses records of other versions, foreign files and short files.
// It leaves out offsets that are out of range. It takes a state only when two readings agree under one
// selector; if left_call names the state's call, the thread has left that call. It takes a history record
// only when the commit word confirms it before and after the copy. A record that is cut while it is read (a
// rank may do that) is partial: its last reading stays, and proves nothing.
// No descriptor stays open: a job may have more processes than we may have files.
#pragma once

#include <sys/stat.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/printable.h"
#include "harness/base/unique_fd.h"
#include "harness/observe/python_frames.h"
#include "harness/observe/timeline.h"

namespace rankfault {

class RingReader {
 public:
  static Result<std::unique_ptr<RingReader>> open(const std::string& path);
  // The writer was killed before it wrote the header. This is not an error of the reader.
  static bool half_made(const std::string& path);
  ~RingReader();
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  const ProcessId& id() const { return id_; }
  const std::string& path() const { return path_; }
  std::string rank_source() const;  // the variable that its rank came from
  bool made_calls() const;          // or marks: the writer wrote more than the header
  struct OwnExit {
    int status = 0;
    Instant time;
  };
  std::optional<OwnExit> own_exit() const;  // what the process wrote itself when it exited

  // Header, lanes and communicators as they are now; no history. `stable` is false when a state could not be
  // read whole.
  ProcessView view() const;
  // A digest of the words that change when the process does something.
  uint64_t activity() const;
  uint32_t modules_version() const;
  // The words of the header that name the rank and its Python: equal while these are the same. Cheap.
  uint64_t claim() const;
  // Its version of Python, and why its calls have no Python frames, if they have none: "3.11", "3.13: it is
  // the free-threaded build". "": it has no Python.
  std::string python() const;

  // These look up one communicator by its number or id, without a view. They return 0, and nothing, if it is
  // not known here (any more).
  uint64_t comm_id(uint32_t number) const;
  std::optional<uint64_t> completed_on(uint64_t comm_id) const;

  struct LaneRead {
    std::vector<uint64_t> torn;  // claimed but not whole (yet)
    uint64_t next = 0;           // first index that is not claimed yet
    uint64_t lost = 0;           // overwritten before this read
  };
  uint32_t lanes_used() const;
  bool is_shorter_than_it_says() const;  // the writer made the file longer: it was cut, or copied only in
                                         // part
  bool has_state_page() const;           // false: it is only a header, like that of a candidate before its
                                         // first call
  // Appends the whole records of a lane with index >= from. Records that the disk refused are lost.
  LaneRead read_lane(uint32_t lane, uint64_t from, std::vector<Event>& records);
  // One record; false when it is not whole. `gone` when it was overwritten.
  bool read_record(uint32_t lane, uint64_t index, rf_record& out, bool& gone);

  std::string name(uint32_t offset) const;  // printable UTF-8; "" when out of range

 private:
  RingReader(std::string path, const struct stat& file, const char* base);
  const rf_header& header() const { return *reinterpret_cast<const rf_header*>(base_); }
  const rf_lane& lane(uint32_t index) const {
    return reinterpret_cast<const rf_lane*>(base_ + RF_OFF_LANES)[index];
  }
  const rf_comm& comm(uint32_t index) const {
    return reinterpret_cast<const rf_comm*>(base_ + RF_OFF_COMMS)[index];
  }
  bool is_cut() const;
  bool has_lost_a_page() const;
  const rf_record* history(uint32_t lane);
  bool read_state(uint32_t lane, rf_state& out) const;
  // Nothing while the entry is filled for a new communicator.
  std::optional<CommView> read_comm(uint32_t at) const;
  CommView copy_comm(uint32_t at) const;
  uint32_t comms_used() const;
  ProcessView read_view() const;
  UniqueFd open_again() const;  // the same file; invalid when another file has its name now, or none

  std::string path_;
  uint64_t device_, inode_;
  const char* base_;
  ProcessId id_;
  mutable bool has_state_page_ = false, is_cut_ = false;
  mutable uint64_t cut_pages_seen_ = 0;
  mutable uint64_t bytes_ = 0;  // the largest size that the file is known to have had
  mutable ProcessView last_;    // the last whole view
  std::array<const rf_record*, RF_MAX_LANES + 1> history_{};
};

}  // namespace rankfault
