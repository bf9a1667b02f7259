#include "tests/fuzz/ring_target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/assert.h"
#include "harness/observe/ring_reader.h"
#include "tests/observe/ring_file_writer.h"

namespace rankfault::testing {
namespace {

constexpr uint8_t kCut = 0xff;
constexpr size_t kHead = 4;  // region, two bytes of place, length

// Parts that readers read: places are counted from `at`, in steps that reach the whole region.
struct Region {
  uint64_t at, step;
};
constexpr Region kRegions[] = {{0, 1},
                               {RF_OFF_LANES, 1},
                               {RF_OFF_COMMS, 1},
                               {RF_OFF_NAMES, 1},
                               {RF_OFF_MEMBERS, 4},
                               {RF_LANE_HISTORY_OFFSET(0), 8},
                               {RF_LANE_HISTORY_OFFSET(1), 8}};

class Record {
 public:
  Record() {
    char name[] = "/tmp/rf-fuzz-ring.XXXXXX";
    folder_ = ::mkdtemp(name);
    ProcessId id;
    id.host = 1;
    id.pid = 1;
    id.start = 1;
    writer_ = std::make_unique<RingFileWriter>(folder_, id, 0, 4, 2);
    writer_->add_comm(7, "world", 4, 0);
    for (int i = 0; i < 20; ++i) {
      writer_->enter(static_cast<uint32_t>(i % 2), RF_OP_ALL_REDUCE);
      if (i < 18) writer_->leave(static_cast<uint32_t>(i % 2));
    }
    fd_ = ::open(writer_->path().c_str(), O_RDWR | O_CLOEXEC);
    RF_ASSERT(fd_ >= 0, "the record that was just made cannot be opened");
    struct stat found;
    ::fstat(fd_, &found);
    bytes_ = static_cast<uint64_t>(found.st_size);
  }
  ~Record() {
    ::close(fd_);
    std::filesystem::remove_all(folder_);
  }
  Record(const Record&) = delete;

  const std::string& path() const { return writer_->path(); }

  void patch(uint64_t at, const uint8_t* with, size_t n) {
    if (n == 0 || at + n > bytes_) return;
    std::string before(n, '\0');
    if (::pread(fd_, before.data(), n, static_cast<off_t>(at)) != static_cast<ssize_t>(n)) return;
    undo_.emplace_back(at, std::move(before));
    RF_ASSERT(::pwrite(fd_, with, n, static_cast<off_t>(at)) == static_cast<ssize_t>(n), "no space for it");
  }
  // The writer maps the file, so a copy is cut.
  std::string cut_at(uint64_t at) const {
    std::string copy = folder_ + "/cut";
    std::filesystem::copy_file(path(), copy, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy, std::min(at, bytes_));
    return copy;
  }
  void mend() {
    for (; !undo_.empty(); undo_.pop_back()) {
      const auto& [at, bytes] = undo_.back();
      RF_ASSERT(::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)) > 0, "it cannot be mended");
    }
  }

 private:
  std::string folder_;
  std::unique_ptr<RingFileWriter> writer_;
  int fd_ = -1;
  uint64_t bytes_ = 0;
  std::vector<std::pair<uint64_t, std::string>> undo_;
};

bool read_all_of(const std::string& path) {
  auto opened = RingReader::open(path);
  if (!opened) {
    RF_ASSERT(!opened.error().message.empty(), "a refusal without a reason");
    return false;
  }
  RingReader& reader = **opened;
  const ProcessView view = reader.view();
  (void)reader.activity();
  (void)reader.modules_version();
  for (const uint32_t offset : {0u, 1u, 0xfffffffeu}) (void)reader.name(offset);
  RF_ASSERT(view.lanes.size() <= RF_MAX_LANES + 1, "more lanes than a record has");
  const uint32_t lanes = std::min(reader.lanes_used(), 4u);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    (void)reader.comm_id(lane);
    std::vector<Event> records;
    const RingReader::LaneRead all = reader.read_lane(lane, 0, records);
    RF_ASSERT(records.size() <= RF_LANE_RECORDS, "more records than a lane holds");
    rf_record record;
    bool gone = false;
    (void)reader.read_record(lane, all.next, record, gone);
  }
  return true;
}

}  // namespace

bool fuzz_ring(const uint8_t* data, size_t size) {
  static Record record;
  std::string path = record.path();
  while (size >= kHead) {
    const uint64_t place = static_cast<uint64_t>(data[1]) << 8 | data[2];
    if (data[0] == kCut) {
      path = record.cut_at(place * 64);
      break;
    }
    const Region& region = kRegions[data[0] % std::size(kRegions)];
    const size_t n = std::min<size_t>(data[3] % 17, size - kHead);
    record.patch(region.at + place * region.step, data + kHead, n);
    data += kHead + n;
    size -= kHead + n;
  }
  const bool taken = read_all_of(path);
  record.mend();
  return taken;
}

}  // namespace rankfault::testing
