// schema_check: see schema_check.h.
#include "schema_check.h"

#include <fmt/format.h>

#include <regex>
#include <set>

namespace rankfault {
namespace {

bool has_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  return type == "null" && value.is_null();
}

class Checker {
 public:
  explicit Checker(const Json& root) : root_(root) {}

  std::string check(const Json& schema, const Json& value, const std::string& path) const {
    for (const auto& [keyword, rule] : schema.items()) {
      std::string mistake = check_keyword(keyword, rule, schema, value, path);
      if (!mistake.empty()) return mistake;
    }
    return "";
  }

 private:
  std::string check_keyword(const std::string& keyword, const Json& rule, const Json& schema,
                            const Json& value, const std::string& path) const {
    static const std::set<std::string> kWords{"$schema",     "title", "$comment",
                                              "description", "$defs", "properties"};
    const auto wrong = [&](bool fits) {
      return fits ? "" : fmt::format("{}: {} {}", path, keyword, rule.dump());
    };
    if (keyword == "$ref") return check(resolve(rule), value, path);
    if (keyword == "type") return wrong(fits_type(rule, value));
    if (keyword == "const") return wrong(value == rule);
    if (keyword == "enum") return wrong(std::find(rule.begin(), rule.end(), value) != rule.end());
    if (keyword == "anyOf") return wrong(fits_any(rule, value, path));
    if (keyword == "minimum") return wrong(!value.is_number() || value >= rule);
    if (keyword == "maximum") return wrong(!value.is_number() || value <= rule);
    if (keyword == "minItems") return wrong(!value.is_array() || value.size() >= rule.get<size_t>());
    if (keyword == "maxItems") return wrong(!value.is_array() || value.size() <= rule.get<size_t>());
    if (keyword == "minProperties") return wrong(!value.is_object() || value.size() >= rule.get<size_t>());
    if (keyword == "pattern")
      return wrong(!value.is_string() ||
                   std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())));
    if (keyword == "required") return wrong(has_all(rule, value));
    if (keyword == "items") return check_items(rule, value, path);
    if (keyword == "additionalProperties") return check_properties(schema, value, path);
    return kWords.count(keyword) ? "" : fmt::format("the checker does not know \"{}\"", keyword);
  }

  const Json& resolve(const Json& reference) const {
    return root_.at(Json::json_pointer(reference.get<std::string>().substr(1)));
  }
  static bool fits_type(const Json& rule, const Json& value) {
    if (rule.is_string()) return has_type(value, rule.get<std::string>());
    return std::any_of(rule.begin(), rule.end(),
                       [&](const Json& type) { return has_type(value, type.get<std::string>()); });
  }
  bool fits_any(const Json& rules, const Json& value, const std::string& path) const {
    return std::any_of(rules.begin(), rules.end(),
                       [&](const Json& one) { return check(one, value, path).empty(); });
  }
  static bool has_all(const Json& names, const Json& value) {
    return !value.is_object() || std::all_of(names.begin(), names.end(), [&](const Json& name) {
      return value.contains(name.get<std::string>());
    });
  }
  std::string check_items(const Json& rule, const Json& value, const std::string& path) const {
    if (!value.is_array()) return "";
    for (size_t i = 0; i < value.size(); ++i)
      if (std::string mistake = check(rule, value[i], fmt::format("{}[{}]", path, i)); !mistake.empty())
        return mistake;
    return "";
  }
  std::string check_properties(const Json& schema, const Json& value, const std::string& path) const {
    if (!value.is_object()) return "";
    const Json properties = schema.value("properties", Json::object());
    const Json& others = schema.at("additionalProperties");
    for (const auto& [key, entry] : value.items()) {
      const bool known = properties.contains(key);
      if (!known && others == false) return fmt::format("{}: unknown {}", path, key);
      if (std::string mistake =
              check(known ? properties.at(key) : others, entry, fmt::format("{}.{}", path, key));
          !mistake.empty())
        return mistake;
    }
    return "";
  }

  const Json& root_;
};

}  // namespace

std::string schema_mistake(const Json& schema, const Json& document) {
  return Checker(schema).check(schema, document, "$");
}

Json closed(Json schema) {
  for (auto& [key, inside] : schema.items())
    if (inside.is_structured()) inside = closed(std::move(inside));
  if (schema.is_object() && schema.contains("properties") && schema.contains("type"))
    schema["additionalProperties"] = false;
  return schema;
}

}  // namespace rankfault
