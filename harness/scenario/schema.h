// schema: the JSON schema of scenario files, for editors, made from what the parser itself uses.
#pragma once

#include "harness/base/json.h"

namespace rankfault {

Json scenario_schema();

}  // namespace rankfault
