// PythonFrames: reads the Python frames of calls from the file that the agent writes beside a flight record
// (harness/agent/python_abi.h), and writes them for people.
//
// The reader does not trust the file: an entry that is not complete gives no frames. No descriptor stays
// open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"

namespace rankfault {

struct CallFrame {       // of the Python code that made a call
  std::string file;      // as Python has it: most often an absolute path
  std::string function;  // qualified from Python 3.11 on; "<module>" for the code of a file
  int line = 0;          // 0: not known
};

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

// "evaluate() at train.py:31, called from main() at train.py:58": the innermost two frames of the program's
// own code. A program without own code shows the innermost frames outside torch.
std::string python_text(const std::vector<CallFrame>&);
// Equal for equal frames in all ranks, and different if one line differs: calls are compared by it.
std::string python_place(const std::vector<CallFrame>&);

}  // namespace rankfault
