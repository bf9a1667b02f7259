// flight_record: the parts of one process's record that the tests of decoders read, without the observe
// stage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"

namespace rankfault::test {

struct FlightRecord {
  rf_header header{};
  std::vector<rf_comm> comms;
  std::vector<std::vector<rf_record>> lanes;  // oldest first, only whole ones
  std::vector<rf_state> states;               // of the same lanes

  std::vector<rf_record> records(uint8_t library) const;       // all lanes
  std::map<std::string, long> entered(uint8_t library) const;  // op -> number of ENTER records
  std::vector<int32_t> members(const rf_comm& comm) const;
  std::string name(uint32_t offset) const;  // of a communicator; "" for 0
  std::vector<int32_t> member_pool;
  std::string names;
  std::string python;  // the bytes of the file of Python frames; "" if there is none
};

FlightRecord read_flight_record(const std::string& path);
// All records of a run directory, by claimed rank; -1: a record without a rank.
std::map<int, FlightRecord> read_flight_records(const std::string& run_dir);
const char* op_name(uint16_t op);

}  // namespace rankfault::test
