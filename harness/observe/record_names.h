// record_names: the file names of a record folder: STEM.ring, and STEM.LN.seen for what the harness copied
// from lane N's history before it could wrap.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/process_id.h"

namespace rankfault {

std::vector<std::string> ring_names_in(const std::string& folder);  // file names, sorted
// A folder of records that come and go. It is listed only after a change.
class RecordFolder {
 public:
  explicit RecordFolder(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  std::vector<std::string> rings();       // file names; empty when none can be new since the last call
  void look_again() { listed_at_ = -1; }  // the next call lists them all

 private:
  std::string path_;
  int64_t listed_at_ = -1;  // the folder's time when it was listed, if that time was old enough then; ns
};

std::string seen_name(const ProcessId&, uint32_t lane);

}  // namespace rankfault
