// schema_check: as much of JSON schema as the shipped schema uses, to compare it with the parser.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace rankfault {

// "" when the document fits, else the first thing that does not. A keyword of the schema that this
// checker does not know is a failure too, so the schema cannot outgrow it unnoticed.
std::string schema_mistake(const Json& schema, const Json& document);

}  // namespace rankfault
