// UndoList: what the run does to the host, written before it is done, so that the guardian or `rankfault
// clean` can undo it.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/base/unique_fd.h"
#include "harness/launch/guardian/undo_entry.h"

namespace rankfault {

class UndoList {
 public:
  static Result<UndoList> open(const std::string& path);  // appends; makes the file when it is absent

  Status remove_file(const rf_file_id&, const std::string& path);
  Status remove_segment(int id, int maker, int64_t changed);  // of System V
  Status restore_mode(const rf_file_id&, unsigned mode, const std::string& path);
  Status continue_process(int pid, uint64_t start);
  Status report_left(const std::string& what);  // something that stays

 private:
  Status add(const rf_undo_entry&);  // one write(2)
  explicit UndoList(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace rankfault
