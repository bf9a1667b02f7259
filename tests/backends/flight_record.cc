#include "tests/backends/flight_record.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rankfault::test {

FlightRecord read_flight_record(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  FlightRecord out;
  if (bytes.size() < sizeof(rf_header)) return out;
  std::memcpy(&out.header, bytes.data(), sizeof(rf_header));
  if (bytes.size() < RF_OFF_HISTORY) return out;
  out.comms.resize(out.header.comms_used);
  std::memcpy(out.comms.data(), bytes.data() + RF_OFF_COMMS, out.comms.size() * sizeof(rf_comm));
  out.names = bytes.substr(RF_OFF_NAMES, RF_NAME_BYTES);
  out.member_pool.resize(out.header.members_used);
  std::memcpy(out.member_pool.data(), bytes.data() + RF_OFF_MEMBERS, out.member_pool.size() * 4);
  for (uint32_t i = 0; i < out.header.lanes_used; ++i) {
    rf_lane lane;
    std::memcpy(&lane, bytes.data() + RF_OFF_LANES + i * sizeof(rf_lane), sizeof(lane));
    out.states.push_back(rf_state_of(&lane));
    out.lanes.emplace_back();
    if (!lane.mapped || bytes.size() < RF_LANE_HISTORY_OFFSET(i + 1)) continue;
    const uint64_t first = lane.head > RF_LANE_RECORDS ? lane.head - RF_LANE_RECORDS : 0;
    for (uint64_t index = first; index < lane.head; ++index) {
      rf_record record;
      const auto at = RF_LANE_HISTORY_OFFSET(i) + (index % RF_LANE_RECORDS) * sizeof(record);
      std::memcpy(&record, bytes.data() + at, sizeof(record));
      if (record.commit == index + 1) out.lanes.back().push_back(record);
    }
  }
  return out;
}

std::map<int, FlightRecord> read_flight_records(const std::string& run_dir) {
  std::map<int, FlightRecord> out;
  for (const auto& entry : std::filesystem::directory_iterator(run_dir + "/records"))
    if (entry.path().extension() == ".ring") {
      FlightRecord record = read_flight_record(entry.path());
      std::ifstream python(std::filesystem::path(entry.path()).replace_extension(".python"),
                           std::ios::binary);
      record.python.assign(std::istreambuf_iterator<char>(python), {});
      const auto known = out.find(record.header.rank);
      if (known != out.end() && record.lanes.empty()) continue;  // a process before its exec: it made no call
      out[record.header.rank] = std::move(record);
    }
  return out;
}

std::vector<rf_record> FlightRecord::records(uint8_t library) const {
  std::vector<rf_record> out;
  for (const auto& lane : lanes)
    for (const rf_record& record : lane)
      if (record.library == library || record.phase == RF_PHASE_COMPLETE) out.push_back(record);
  return out;
}

std::map<std::string, long> FlightRecord::entered(uint8_t library) const {
  std::map<std::string, long> out;
  for (const rf_record& record : records(library))
    if (record.phase == RF_PHASE_ENTER) ++out[op_name(record.op)];
  return out;
}

std::vector<int32_t> FlightRecord::members(const rf_comm& comm) const {
  if (comm.members == RF_NO_MEMBERS) return {};
  return {member_pool.begin() + comm.members, member_pool.begin() + comm.members + comm.size};
}

std::string FlightRecord::name(uint32_t offset) const {
  return offset && offset < names.size() ? names.c_str() + offset : "";
}

const char* op_name(uint16_t op) {
  static const char* const kNames[] = {
#define RF_OP(id, text, need) text,
#include "harness/agent/ops.def"
#undef RF_OP
  };
  return op < RF_OP_COUNT ? kNames[op] : "?";
}

}  // namespace rankfault::test
