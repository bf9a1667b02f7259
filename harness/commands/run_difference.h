// run_difference: where the outcomes of two runs of one plan differ. Times, process ids and texts that hold
// them are not compared.
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace rankfault {

// A line for each difference: "verdict: fail, was pass".
std::vector<std::string> run_differences(const RunReport& before, const RunReport& now);

}  // namespace rankfault
