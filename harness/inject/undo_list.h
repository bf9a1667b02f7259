// UndoList: what the run does to the host, written before it is done, so that the guardian or `rankfault
// clean` can undo it. guardian_protocol.h describes the lines.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

class UndoList {
 public:
  static Result<UndoList> open(const std::string& path);  // appends; makes the file when it is absent
  Status add(const std::string& line);                    // one write(2)

 private:
  explicit UndoList(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace rankfault
