// schema: the JSON schema of scenario files, for editors, made from the parser's own tables.
#pragma once

#include "harness/base/json.h"

namespace rankfault {

Json scenario_schema();

}  // namespace rankfault
