// yaml_tree: text -> a tree of Values with positions. The only place that uses the YAML library.
#pragma once

#include <string>

#include "harness/scenario/scenario.h"

namespace rankfault {

inline constexpr size_t kLargestScenarioBytes = 1 << 20;

// One document. Refuses, with the place: more than kLargestScenarioBytes, bytes that are not text, a key
// given twice, anchors and aliases, deeper nesting than a scenario can have.
Result<Value> read_yaml(const std::string& text, const std::string& file);

// An unquoted scalar as YAML 1.2 reads it: a number, true, false, null or text.
Value plain_scalar(const std::string& text, const SourcePos& pos);

}  // namespace rankfault
