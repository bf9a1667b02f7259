// trace_rules: the rules of the JSON Trace Event Format that viewers depend on.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace rankfault::test {

// Returns the first event that a viewer would drop or draw wrong; "" none.
std::string trace_mistake(const Json& trace);

}  // namespace rankfault::test
