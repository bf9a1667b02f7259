#include "harness/commands/keys_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/scenario/scenario_fields.h"

namespace rankfault {
namespace {

// Maps with a section of their own. The keys of other maps stand in the table above them.
const std::vector<std::string> kSections{"", "workload", "faults", "faults.at", "teeth", "bug", "variants"};
constexpr size_t kMostWords = 12;  // longer lists of words have a page of their own

const std::vector<CatalogueColumn> kColumns{{"key", "name"}, {"meaning", "summary"}, {"value", "value"}};

std::string code(const std::string& text) { return fmt::format("`{}`", text); }

std::string bounds(const Json& shape) {
  const std::string least = " from " + shape["minimum"].dump();
  return shape.contains("maximum") ? least + " to " + shape["maximum"].dump() : least;
}

std::string list_words(const std::string& items) {
  if (items == "text") return "list of words";
  return "list of " + (items == "map" ? "maps" : items);
}

std::string value_words(const Json& shape);

// What a JSON schema allows, each possibility in words.
std::vector<std::string> possibilities(const Json& shape) {
  if (const auto only = shape.find("const"); only != shape.end())
    return {code(only->is_string() ? only->get<std::string>() : only->dump())};
  std::vector<std::string> out;
  for (const Json& text : shape.value("enum", Json::array())) out.push_back(code(text));
  if (out.size() > kMostWords) return {"a word"};
  for (const Json& one : shape.value("anyOf", Json::array()))
    for (const std::string& words : possibilities(one)) out.push_back(words);
  if (!out.empty()) return out;
  for (const char* name : {"duration", "ranks"})
    if (shape == shape::ref(name)) return {name};
  const Json type = shape.value("type", Json());
  if (type == "boolean") return {"`true`", "`false`"};
  if (type == "integer") return {"whole number" + bounds(shape)};
  if (type == "array") return {list_words(value_words(shape["items"]))};
  return {type.is_array() || type == "string" ? "text" : "map"};
}

std::string value_words(const Json& shape) {
  const std::vector<std::string> all = possibilities(shape);
  const std::string first = fmt::format("{}", fmt::join(all.begin(), all.end() - 1, ", "));
  return first.empty() ? all.back() : first + " or " + all.back();
}

// Adds the keys and those of the maps below them. `path` is that of the map: "faults.at.", or "".
void add_rows(const Keys& keys, const std::string& path, std::vector<Json>& out) {
  for (const Key& key : keys) {
    const std::string value = value_words(key.shape) + (key.placeholders ? " with placeholders" : "") +
                              (key.needed ? "; needed" : "");
    out.push_back({{"name", path + key.name},
                   {"summary", key.doc},
                   {"value", value},
                   {"needed", key.needed},
                   {"schema", key.shape}});
    add_rows(key.below, path + key.name + ".", out);
  }
}

// The innermost section that has this key.
std::string section_of(const std::string& path) {
  std::string out;
  for (const std::string& section : kSections)
    if (path.starts_with(section + ".")) out = section;
  return out;
}

std::string table_of(const std::string& section) {
  CatalogueTable table{kColumns, {}};
  for (Json& row : all_keys().rows) {
    const std::string path = row["name"];
    if (section_of(path) != section) continue;
    row["name"] = code(section.empty() ? path : path.substr(section.size() + 1));
    table.rows.push_back(row);
  }
  return fmt::format("<!-- keys of {} -->\n{}<!-- end of keys -->\n",
                     section.empty() ? "a scenario" : section, as_markdown(table));
}

}  // namespace

CatalogueTable all_keys() {
  CatalogueTable out{kColumns, {}};
  add_rows(keys_of<Scenario>(), "", out.rows);
  return out;
}

std::vector<std::string> key_tables() {
  std::vector<std::string> out;
  for (const std::string& section : kSections) out.push_back(table_of(section));
  return out;
}

}  // namespace rankfault
