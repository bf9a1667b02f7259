#include "harness/nodes/flight_mirror.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "harness/base/process_id.h"

namespace rankfault {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kLargest = RF_LANE_HISTORY_OFFSET(RF_MAX_LANES + 1);

// The offsets of the times in the header, and in one element of each table.
constexpr uint64_t kHeaderTimes[] = {offsetof(rf_header, opened_ns), offsetof(rf_header, own_exit_ns),
                                     offsetof(rf_header, member_ns)};
constexpr uint64_t kLaneTimes[] = {
    offsetof(rf_lane, left_ns),
    offsetof(rf_lane, polled_ns),
    offsetof(rf_lane, slot) + offsetof(rf_state, since_ns),
    offsetof(rf_lane, slot) + offsetof(rf_state, deadline_ns),
    offsetof(rf_lane, slot) + sizeof(rf_state) + offsetof(rf_state, since_ns),
    offsetof(rf_lane, slot) + sizeof(rf_state) + offsetof(rf_state, deadline_ns)};
constexpr uint64_t kCommTimes[] = {offsetof(rf_comm, created_ns)};
constexpr uint64_t kRecordTimes[] = {offsetof(rf_record, time_ns)};

class Converter {
 public:
  Converter(FlightPart& part, int64_t offset_ns)
      : part_(part), offset_ns_(static_cast<uint64_t>(offset_ns)) {}

  // The times of a table of `count` elements of `size` bytes at `begin`.
  template <size_t N>
  void table(uint64_t begin, uint64_t size, uint64_t count, const uint64_t (&times)[N]) {
    const uint64_t from = std::max(part_.offset, begin), to = std::min(end(), begin + size * count);
    if (from >= to) return;
    for (uint64_t i = (from - begin) / size; i <= (to - 1 - begin) / size; ++i)
      for (const uint64_t time : times) convert(begin + i * size + time);
  }

 private:
  uint64_t end() const { return part_.offset + part_.bytes.size(); }
  void convert(uint64_t at) {
    if (at < part_.offset || at + sizeof(uint64_t) > end()) return;
    uint64_t ns = 0;
    char* bytes = part_.bytes.data() + (at - part_.offset);
    std::memcpy(&ns, bytes, sizeof ns);
    if (ns == 0) return;
    ns -= offset_ns_;  // modulo 2^64: right for negative offsets, too
    std::memcpy(bytes, &ns, sizeof ns);
  }
  FlightPart& part_;
  uint64_t offset_ns_;
};

bool is_record_name(const std::string& name) {
  constexpr std::string_view kEnd = ".ring";
  return name.size() > kEnd.size() && name.ends_with(kEnd) &&
         process_id_from(std::string_view(name).substr(0, name.size() - kEnd.size())).has_value();
}

bool is_inside(const FlightPart& part, uint64_t size) {
  return part.offset % kLine == 0 && part.bytes.size() % kLine == 0 && part.offset < size &&
         part.bytes.size() <= size - part.offset;
}

}  // namespace

void convert_times(FlightPart& part, int64_t offset_ns) {
  Converter converter(part, offset_ns);
  converter.table(0, RF_HEADER_BYTES, 1, kHeaderTimes);
  converter.table(RF_OFF_LANES, sizeof(rf_lane), RF_MAX_LANES + 1, kLaneTimes);
  converter.table(RF_OFF_COMMS, sizeof(rf_comm), RF_MAX_COMMS, kCommTimes);
  converter.table(RF_OFF_HISTORY, sizeof(rf_record), uint64_t{RF_LANE_RECORDS} * (RF_MAX_LANES + 1),
                  kRecordTimes);
}

Result<FlightMirror> FlightMirror::create(const std::string& dir, const std::string& name) {
  if (!is_record_name(name))
    return usage_error(fmt::format("\"{}\" is not the name of a flight record", name));
  const std::string path = dir + "/" + name;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return errno_error("cannot make " + path, errno);
  return FlightMirror(path, std::move(fd));
}

Status FlightMirror::apply(FlightChange change, int64_t offset_ns) {
  if (change.size > kLargest || change.size < size_)
    return usage_error(fmt::format("{}: a flight record has no {} bytes", path_, change.size));
  const auto fits = [&](const FlightPart& part) { return is_inside(part, change.size); };
  if (!std::all_of(change.parts.begin(), change.parts.end(), fits))
    return usage_error(path_ + ": a part lies outside the record");
  if (change.size > size_ && ::ftruncate(fd_.get(), static_cast<off_t>(change.size)) != 0)
    return errno_error("cannot lengthen " + path_, errno);
  size_ = change.size;
  for (FlightPart& part : change.parts) {
    convert_times(part, offset_ns);
    const ssize_t n =
        ::pwrite(fd_.get(), part.bytes.data(), part.bytes.size(), static_cast<off_t>(part.offset));
    if (n != static_cast<ssize_t>(part.bytes.size()))
      return errno_error("cannot write " + path_, n < 0 ? errno : ENOSPC);
  }
  return Done{};
}

}  // namespace rankfault
