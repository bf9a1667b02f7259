// RingFileWriter: writes a flight record as the agent does, for tests of its readers.
#pragma once

#include <string>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_id.h"

namespace rankfault::testing {

class RingFileWriter {
 public:
  // `lanes`: the number of threads, each with its history in the file.
  RingFileWriter(const std::string& folder, const ProcessId&, int rank, int world_size, uint32_t lanes = 4);
  ~RingFileWriter();
  RingFileWriter(const RingFileWriter&) = delete;
  RingFileWriter& operator=(const RingFileWriter&) = delete;

  rf_header& header() { return *reinterpret_cast<rf_header*>(base_); }
  rf_lane& lane(uint32_t i) { return reinterpret_cast<rf_lane*>(base_ + RF_OFF_LANES)[i]; }
  rf_comm& comm(uint32_t i) { return reinterpret_cast<rf_comm*>(base_ + RF_OFF_COMMS)[i]; }
  int32_t& member_at(uint32_t i) { return reinterpret_cast<int32_t*>(base_ + RF_OFF_MEMBERS)[i]; }
  rf_record& record_at(uint32_t l, uint64_t index) {
    return reinterpret_cast<rf_record*>(base_ + RF_LANE_HISTORY_OFFSET(l))[index % RF_LANE_RECORDS];
  }
  const std::string& path() const { return path_; }

  void add_comm(uint64_t id, const std::string& name, int size, int rank);
  rf_record& claim(uint32_t lane);  // a torn record: claimed, not committed
  void commit(uint32_t lane, rf_record&);
  void enter(uint32_t lane, uint16_t op);  // an all_reduce-like call on communicator 0
  void leave(uint32_t lane, int result = 0);
  void set_state(uint32_t lane, const rf_state&);

 private:
  std::string path_;
  char* base_;
  uint64_t bytes_;
  uint64_t time_ = 1'000'000;
};

}  // namespace rankfault::testing
