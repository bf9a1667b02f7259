// SeenFiles: what a run writes beside its rings, so that a replay of a look has what the look had:
// STEM.LN.seen, records of lane N of one process.
//
// It is written when a look is kept in the journal, around a fault, and at the end. All files of a run
// together stay below a cap. When a lane's file reaches its share, it becomes STEM.LN.seen.old and replaces
// the previous one. The records removed this way are counted. The records around a fault stay, in
// STEM.LN.seen.kept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_id.h"

namespace rankfault {

constexpr uint64_t kSeenBytes = 256'000'000;    // of one run
constexpr uint64_t kSeenLaneBytes = 4'000'000;  // of one lane: a judgement reads them all into memory

class SeenFiles {
 public:
  explicit SeenFiles(uint64_t most_bytes = kSeenBytes) : most_bytes_(most_bytes) {}

  // Records that cannot be written count as removed: the disk may be full.
  void append(const std::string& folder, const ProcessId&, uint32_t lane, const std::vector<rf_record>&,
              bool around_a_fault = false);
  uint64_t bytes() const { return bytes_; }
  uint64_t removed() const { return removed_; }  // number of records

 private:
  struct File {
    uint64_t now = 0, old = 0, kept = 0;  // bytes
  };
  void make_room(const std::string& path, File&, uint64_t more);
  std::map<std::string, File> files_;
  uint64_t most_bytes_, bytes_ = 0, removed_ = 0;
};

// All records of a lane that its files hold, unordered; some occur twice.
std::vector<rf_record> read_seen(const std::string& folder, const ProcessId&, uint32_t lane);

}  // namespace rankfault
