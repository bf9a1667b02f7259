// PythonFrames: reads the Python frames of calls from the file that the agent writes beside a flight record
// (harness/agent/python_abi.h).
//
// The reader does not trust the file: an entry that is not complete gives no frames. No descriptor stays
// open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"
#include "harness/symbols/python_text.h"

namespace rankfault {

std::string why_no_frames(uint32_t python_off);  // rf_python_off, as half a sentence

inline bool is_python_stack(uint64_t where) { return (where & RF_WHERE_PYTHON) != 0; }

class PythonFrames {
 public:
  // `ring`: path of the flight record.
  explicit PythonFrames(const std::string& ring);

  // The frames of a call, innermost first. `where` is that of its record, with is_python_stack(). Nothing if
  // the file has no such entry.
  std::optional<std::vector<CallFrame>> of(uint64_t where) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rankfault
