// TraceWriter: writes the events of a Chrome trace (the JSON Trace Event Format), one a line.
#pragma once

#include <map>
#include <string>

#include "harness/base/json.h"

namespace rankfault {

struct TraceRow {  // a process and one of its threads, as the trace numbers them
  int pid = 0, tid = 0;
};

class TraceWriter {
 public:
  explicit TraceWriter(Instant begin) : begin_(begin) {}

  void name_process(int pid, const std::string& name, int place);  // rows are sorted by `place`
  void name_thread(TraceRow, const std::string& name);
  // A slice lasts at least a nanosecond: viewers drop those that do not last.
  void slice(TraceRow, const std::string& name, const char* category, Instant from, Instant to, Json args);
  // Work that goes on while its thread does something else.
  void work(TraceRow, const std::string& name, const char* category, Instant from, Instant to, Json args);
  void instant(TraceRow, const std::string& name, const char* category, Instant at, char scope, Json args);
  // An arrow between two slices, which begin at these instants. It leads to the later one.
  void arrow(TraceRow a, Instant at_a, TraceRow b, Instant at_b, const std::string& name);

  // Text of the job, without secrets and control characters.
  const std::string& safe(const std::string& text);
  double microseconds(Instant) const;  // since the begin

  std::string take(const Json& other_data);

 private:
  Json event(char phase, TraceRow, const std::string& name) const;
  void add(const Json& event);

  Instant begin_;
  uint64_t ids_ = 0;
  std::string events_;
  std::map<std::string, std::string> safe_;
};

}  // namespace rankfault
