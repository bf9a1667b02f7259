// first_scenario: the text of a first scenario file for a job, from one fault-free run that was recorded.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/facts/run_facts.h"

namespace rankfault {

// An error if the run recorded no collective call: a fault needs a call to act at.
Result<std::string> first_scenario(const RunFacts&, const std::string& name, double seconds);

}  // namespace rankfault
