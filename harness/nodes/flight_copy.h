// FlightCopy: what changed in one flight record since it was last sent to the tool. It runs on the node of
// the process, beside the agent that writes the record.
//
// The state of a record (header, lanes, communicators, names, members) is compared in lines of 64 bytes. It
// is small and is sent often. The histories are sent when the tool asks for them; records that a ring
// overwrote until then are lost. A part is sent as the agent wrote it: the tool converts its times
// (flight_mirror.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_id.h"
#include "harness/base/result.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

struct FlightPart {
  uint64_t offset = 0;  // in the record
  std::string bytes;    // whole lines of 64 bytes
  static void fields(auto&& field) { field(&FlightPart::offset, &FlightPart::bytes); }
};

struct FlightChange {
  uint64_t size = 0;  // of the record's file
  // Two readings of the state were equal: it is the state of one instant. False: the process moves, and the
  // parts may mix two states.
  bool is_of_one_instant = true;
  std::vector<FlightPart> parts;
  bool empty() const { return parts.empty(); }
  static void fields(auto&& field) {
    field(&FlightChange::size, &FlightChange::is_of_one_instant, &FlightChange::parts);
  }
};

// Not thread safe. It keeps one descriptor.
class FlightCopy {
 public:
  static Result<FlightCopy> open(const std::string& path);

  // What changed: with the records that are new in the histories, or the state alone. Without them, each lane
  // seems to have claimed no record beyond those that were sent.
  enum class Take { kState, kAll };
  FlightChange take(Take);
  // The size that the file has now; the agent makes it longer at the first call of a lane.
  uint64_t size() const;
  // Increases when the process loads a library, as of the last take().
  uint32_t modules_version() const;

 private:
  FlightCopy(std::string path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)), sent_(RF_OFF_HISTORY, 0) {}
  bool read_state(std::string& bytes) const;
  void add_records(const rf_lane&, uint32_t index, FlightChange&);
  void take_lanes(Take, std::string& state, FlightChange&);

  std::string path_;
  UniqueFd fd_;
  std::string sent_;  // the state as the tool has it; zeros before anything was sent
  std::array<uint64_t, RF_MAX_LANES + 1> records_sent_{};
};

}  // namespace rankfault
