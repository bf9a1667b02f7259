// Json: the one JSON type of the harness; keys keep the order in which they were written, so that
// files compare byte for byte.
#pragma once

#include <nlohmann/json.hpp>

namespace rankfault {
using Json = nlohmann::ordered_json;
}
