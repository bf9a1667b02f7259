// measures: what can be measured of any run, whatever it reports: how long it took, what it did and how
// often.
#pragma once

#include <string>
#include <vector>

#include "harness/run/run_facts.h"

namespace rankfault {

// Words of `compare`; a reported value of the same name is not meant.
const std::vector<std::string>& measure_words();
bool is_measure(const std::string& value);
bool is_time_measure(const std::string& value);

struct Measured {
  std::vector<double> samples;  // seconds, or counts
  std::string why;              // there are none
};
// `op`: of "calls".
Measured measure(const std::string& value, const std::string& op, const RunFacts&);

double median(std::vector<double> samples);  // of at least one

}  // namespace rankfault
