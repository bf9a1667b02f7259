// python_calls: the Python frames of recorded calls, as tests compare them.
#pragma once

#include "harness/base/json.h"
#include "harness/observe/python_frames.h"
#include "tests/backends/flight_record.h"
#include "tests/support/tool.h"

namespace rankfault::test {

// Reads the frames of one process's record: [file, function, line] of each, innermost first. The function is
// the name alone, as tracebacks and PyTorch have it: "run" of "Loop.run", "f" of "g.<locals>.f".
class PythonCalls {
 public:
  explicit PythonCalls(const FlightRecord& record) : file_(scratch_.file("record.ring")) {
    scratch_.write("record.python", record.python);
  }
  Json frames_of(const rf_record& call) const {
    Json frames = Json::array();
    for (const CallFrame& f : file_.of(call.where).value_or(std::vector<CallFrame>{}))
      frames.push_back({f.file, f.function.substr(f.function.rfind('.') + 1), f.line});
    return frames;
  }

 private:
  Scratch scratch_;
  PythonFrames file_;
};

}  // namespace rankfault::test
