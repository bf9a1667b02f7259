// measures: measures of any run, independent of its reports: durations of the job and of steps, committed
// steps, and numbers of calls.
#pragma once

#include <string>
#include <vector>

#include "harness/facts/run_facts.h"

namespace rankfault {

// Words of `compare`; they take precedence over a reported value of the same name.
const std::vector<std::string>& measure_words();
bool is_measure(const std::string& value);
bool is_time_measure(const std::string& value);

struct Measured {
  std::vector<double> samples;  // seconds, or counts
  std::string why;              // why there are no samples
};
// `op`: the operation for "calls".
Measured measure(const std::string& value, const std::string& op, const RunFacts&);

double median(std::vector<double> samples);  // of at least one

}  // namespace rankfault
