// read_expect: reads the expectations. Each item is one oracle with its parameters: `- ended: {...}`.
#include <fmt/format.h>

#include <algorithm>

#include "harness/scenario/old_names.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

// `id` belongs to the expectation, and each other key to the oracle.
void split_id(ExpectationSpec& out, Problems& problems) {
  auto* entries = std::get_if<Value::Map>(&out.params.data);
  if (!entries) return;
  const auto id =
      std::find_if(entries->begin(), entries->end(), [](const auto& e) { return e.first == "id"; });
  if (id == entries->end()) return;
  if (is_scalar(id->second))
    out.id = id->second.text;
  else
    problems.add("\"id\" must be text", id->second.pos);
  entries->erase(id);
}

}  // namespace

void read_expectations(const Value& value, std::vector<ExpectationSpec>& out, Problems& problems) {
  if (!value.list()) {
    problems.add(fmt::format("\"expect\" must be a list, not {}", kind_of(value)), value.pos);
    return;
  }
  if (value.list()->size() > kMostItems) {
    problems.add(fmt::format("{} expectations are too many: a scenario can have at most {}",
                             value.list()->size(), kMostItems),
                 value.pos);
    return;
  }
  std::vector<std::string> written;  // the names of the oracles, as the file has them
  for (const Value& item : *value.list()) {
    ExpectationSpec spec;
    spec.pos = item.pos;
    if (is_scalar(item)) {
      spec.oracle = item.text;
      spec.params = map_value({}, item.pos);
    } else if (item.map() && item.map()->size() == 1) {
      const auto& [oracle, params] = item.map()->front();
      spec.oracle = oracle;
      spec.pos = params.key;
      spec.params = params.is_null() ? map_value({}, params.key) : params;
      split_id(spec, problems);
    } else {
      problems.add(
          "write an expectation as one oracle and its parameters: \"- ended: {ranks: all, exit: zero}\"",
          item.pos);
      continue;
    }
    written.push_back(spec.oracle);
    if (const auto now = renamed_oracle(spec.oracle)) {
      problems.warn(
          fmt::format("\"{}\" is now \"{}\"; the next release refuses the old name", spec.oracle, *now),
          spec.pos);
      spec.oracle = *now;
    }
    out.push_back(std::move(spec));
  }
  std::set<std::string> taken;
  for (const ExpectationSpec& spec : out) taken.insert(spec.id);
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].id.empty()) out[i].id = fresh_id(written[i], taken);
}

}  // namespace rankfault
