#include "harness/observe/seen_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "harness/observe/record_names.h"

namespace rankfault {
namespace {

constexpr size_t kRecord = sizeof(rf_record);

bool write(const std::string& path, const std::vector<rf_record>& records) {
  std::FILE* file = std::fopen(path.c_str(), "abe");
  if (!file) return false;
  std::fseek(file, 0, SEEK_END);
  const long before = std::ftell(file);
  const size_t written = std::fwrite(records.data(), kRecord, records.size(), file);
  if (std::fclose(file) == 0 && written == records.size()) return true;
  // A part of a record that a full disk accepted would shift all records after it. Shortening a file needs no
  // room.
  std::error_code error;
  if (before >= 0) std::filesystem::resize_file(path, static_cast<uint64_t>(before), error);
  return false;
}

}  // namespace

void SeenFiles::make_room(const std::string& path, File& file, uint64_t more) {
  const std::string old = path + ".old";
  const uint64_t share = std::min(kSeenLaneBytes, most_bytes_ / files_.size()) / 2;
  const auto forget_old = [&] {
    removed_ += file.old / kRecord;
    bytes_ -= file.old;
    file.old = 0;
  };
  if (file.now != 0 && file.now + more > share && std::rename(path.c_str(), old.c_str()) == 0) {
    forget_old();
    file.old = std::exchange(file.now, 0);
  }
  if (bytes_ + more > most_bytes_ && file.old != 0 && std::remove(old.c_str()) == 0) forget_old();
}

void SeenFiles::append(const std::string& folder, const ProcessId& process, uint32_t lane,
                       const std::vector<rf_record>& records, bool around_a_fault) {
  if (records.empty()) return;
  const std::string path = folder + "/" + seen_name(process, lane);
  File& file = files_[path];
  const uint64_t more = records.size() * kRecord;
  const bool keep = around_a_fault && file.kept + more <= kSeenLaneBytes;
  if (!keep) make_room(path, file, more);
  if (bytes_ + more > most_bytes_ || !write(keep ? path + ".kept" : path, records)) {
    removed_ += records.size();
    return;
  }
  (keep ? file.kept : file.now) += more;
  bytes_ += more;
}

std::vector<rf_record> read_seen(const std::string& folder, const ProcessId& process, uint32_t lane) {
  std::vector<rf_record> records;
  const std::string path = folder + "/" + seen_name(process, lane);
  for (const std::string& name : {path + ".kept", path + ".old", path}) {
    std::FILE* file = std::fopen(name.c_str(), "rbe");
    if (!file) continue;
    rf_record record;
    while (std::fread(&record, kRecord, 1, file) == 1)
      if (record.commit != 0) records.push_back(record);
    std::fclose(file);
  }
  return records;
}

}  // namespace rankfault
