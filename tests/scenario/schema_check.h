// schema_check: the part of JSON schema that the shipped schema uses, to compare it with the parser.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace rankfault {

// Returns "" if the document fits, otherwise its first mistake. A keyword of the schema that this checker
// does not know is also a failure, so that the schema cannot use more keywords than the checker knows.
std::string schema_mistake(const Json& schema, const Json& document);

// A shipped schema may allow other keys, because a later program may add some. This one allows none.
Json closed(Json schema);

}  // namespace rankfault
