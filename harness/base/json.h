// Json: the only JSON type of the harness. Keys keep the order in which they were written, so that files
// compare byte for byte.
#pragma once

#include <nlohmann/json.hpp>

namespace rankfault {
using Json = nlohmann::ordered_json;
}
