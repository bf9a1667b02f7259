// schema_shapes: the pieces of which the JSON schema of scenarios consists.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault::shape {

inline Json ref(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }
inline Json scalar() { return {{"type", {"string", "number", "boolean"}}}; }
inline Json flag() { return {{"type", "boolean"}}; }
inline Json whole(int64_t least) { return {{"type", "integer"}, {"minimum", least}}; }
inline Json pattern(const char* text) { return {{"type", "string"}, {"pattern", text}}; }
inline Json one_of(const std::vector<std::string>& words) { return {{"enum", words}}; }
inline Json any_of(Json::initializer_list_t shapes) { return {{"anyOf", Json::array(shapes)}}; }
inline Json any_map() { return {{"type", "object"}}; }
inline Json map_of(Json values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }
inline Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
inline Json object(Json properties, const std::vector<std::string>& required) {
  Json out{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = required;
  return out;
}
inline Json with_doc(Json shape, const std::string& doc) {
  shape["description"] = doc;
  return shape;
}

}  // namespace rankfault::shape
