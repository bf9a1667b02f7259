// FlightMirror: the copy of one flight record of another host, on the tool's host. All that reads flight
// records reads the copy: observer, diagnosis, replay and judge know no second kind of record.
//
// The times of a record are those of its node's clock. The mirror converts them with one offset for the whole
// run, so that the order of the records of a process is kept.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/result.h"
#include "harness/base/unique_fd.h"
#include "harness/nodes/flight_copy.h"

namespace rankfault {

// Subtracts `offset_ns` (the node's clock minus the tool's) from each time in these lines of a record.
// Unknown times (0) stay unknown.
void convert_times(FlightPart&, int64_t offset_ns);

// Not thread safe. It keeps one descriptor.
class FlightMirror {
 public:
  // Makes DIR/NAME; refuses a name that is not that of a flight record ("HOST.PIDNS.PID.START.IMAGE.ring").
  static Result<FlightMirror> create(const std::string& dir, const std::string& name);
  // Writes the parts. An error: a part that lies outside a record, or what the disk refuses.
  Status apply(FlightChange, int64_t offset_ns);

 private:
  FlightMirror(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;
  uint64_t size_ = 0;
};

}  // namespace rankfault
