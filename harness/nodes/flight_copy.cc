#include "harness/nodes/flight_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace rankfault {
namespace {

constexpr size_t kLine = 64;
constexpr int kReadings = 4;  // of a state that moves, before it is sent as it is

bool read_at(int fd, uint64_t offset, char* bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t n = ::pread(fd, bytes + done, count - done, static_cast<off_t>(offset + done));
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// Neighbouring lines become one part.
void add_changed_lines(const std::string& now, std::string& sent, std::vector<FlightPart>& parts) {
  size_t last_end = SIZE_MAX;
  for (size_t at = 0; at < now.size(); at += kLine) {
    if (std::memcmp(now.data() + at, sent.data() + at, kLine) == 0) continue;
    if (last_end == at)
      parts.back().bytes.append(now, at, kLine);
    else
      parts.push_back({at, now.substr(at, kLine)});
    last_end = at + kLine;
  }
  sent = now;
}

}  // namespace

Result<FlightCopy> FlightCopy::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return errno_error("cannot open " + path, errno);
  return FlightCopy(path, std::move(fd));
}

uint64_t FlightCopy::size() const {
  struct stat file {};
  return ::fstat(fd_.get(), &file) == 0 && file.st_size > 0 ? static_cast<uint64_t>(file.st_size) : 0;
}

uint32_t FlightCopy::modules_version() const {
  uint32_t value = 0;
  std::memcpy(&value, sent_.data() + offsetof(rf_header, modules_version), sizeof value);
  return value;
}

// A record that ends before its state page has only a header.
bool FlightCopy::read_state(std::string& bytes) const {
  const uint64_t there = std::min<uint64_t>(size(), RF_OFF_HISTORY);
  bytes.assign(RF_OFF_HISTORY, 0);
  return there >= RF_HEADER_BYTES && read_at(fd_.get(), 0, bytes.data(), there);
}

// A lane keeps its last RF_LANE_RECORDS records, each at its index modulo that number.
void FlightCopy::add_records(const rf_lane& lane, uint32_t index, FlightChange& change) {
  uint64_t& sent = records_sent_[index];
  if (lane.mapped == 0 || lane.head <= sent) return;
  if (lane.head - sent > RF_LANE_RECORDS) sent = lane.head - RF_LANE_RECORDS;
  while (sent < lane.head) {
    const uint64_t place = sent % RF_LANE_RECORDS;
    const uint64_t count = std::min<uint64_t>(lane.head - sent, RF_LANE_RECORDS - place);
    FlightPart part{RF_LANE_HISTORY_OFFSET(index) + place * sizeof(rf_record),
                    std::string(count * sizeof(rf_record), 0)};
    if (!read_at(fd_.get(), part.offset, part.bytes.data(), part.bytes.size())) return;
    // A record that is not whole yet is sent again by the next call.
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t commit = 0;
      std::memcpy(&commit, part.bytes.data() + i * sizeof(rf_record), sizeof commit);
      if (commit == sent + i + 1) continue;
      part.bytes.resize(i * sizeof(rf_record));
      break;
    }
    const uint64_t whole = part.bytes.size() / sizeof(rf_record);
    if (whole > 0) change.parts.push_back(std::move(part));
    sent += whole;
    if (whole < count) return;
  }
}

void FlightCopy::take_lanes(Take what, std::string& state, FlightChange& change) {
  rf_header header;
  std::memcpy(&header, state.data(), sizeof header);
  const uint32_t lanes = std::min<uint32_t>(header.lanes_used, RF_MAX_LANES + 1);
  for (uint32_t i = 0; i < lanes; ++i) {
    char* at = state.data() + RF_OFF_LANES + i * sizeof(rf_lane);
    rf_lane lane;
    std::memcpy(&lane, at, sizeof lane);
    if (what == Take::kAll)
      add_records(lane, i, change);
    else
      std::memcpy(at + offsetof(rf_lane, head), &records_sent_[i], sizeof records_sent_[i]);
  }
}

FlightChange FlightCopy::take(Take what) {
  FlightChange change;
  std::string now, again;
  change.is_of_one_instant = false;
  for (int reading = 0; reading < kReadings && !change.is_of_one_instant; ++reading) {
    if (!read_state(now) || !read_state(again)) return change;  // the file was cut
    change.is_of_one_instant = now == again;
  }
  take_lanes(what, again, change);
  change.size = size();
  add_changed_lines(again, sent_, change.parts);
  return change;
}

}  // namespace rankfault
