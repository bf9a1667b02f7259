#include "harness/judge/finding_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/catalog.h"
#include "harness/base/suggest.h"
#include "harness/diagnose/rule.h"
#include "harness/observe/timeline.h"

namespace rankfault {

Status check_finding_words(const Value& wanted) {
  std::vector<std::string> kinds{"none"}, ops;
  for (const Rule* rule : Catalog<Rule>::instance().all()) kinds.emplace_back(rule->name);
  for (uint16_t op = 1; op < RF_OP_COUNT; ++op) ops.emplace_back(op_text(op));
  for (const auto& [key, known] : {std::pair{"kind", &kinds}, std::pair{"op", &ops}}) {
    const Value* word = wanted.find(key);
    if (word && known->size() > 1 && std::find(known->begin(), known->end(), word->text) == known->end())
      return usage_error(
          fmt::format("no finding has the {} \"{}\"{}", key, word->text, did_you_mean(word->text, *known)),
          word->pos);
  }
  const Value* seq = wanted.find("seq");
  const auto* number = seq ? std::get_if<int64_t>(&seq->data) : nullptr;
  if (seq && seq->text != "fired" && !seq->map() && (!number || *number < 0))
    return usage_error("\"seq\" must be a number from 0, {from, to}, or fired", seq->pos);
  return Done{};
}

Status check_any_of(const Value& any_of, const std::vector<std::string>& keys, const char* oracle) {
  if (!any_of.list() || any_of.list()->empty())
    return usage_error("\"any_of\" must be a list of at least one alternative", any_of.pos);
  for (const Value& one : *any_of.list()) {
    if (!one.map())
      return usage_error("each item of \"any_of\" must be a map, such as {kind: missing_call, ranks: [3]}",
                         one.pos);
    for (const auto& [key, value] : *one.map())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        return usage_error(
            fmt::format("unknown key \"{}\" in any_of of {}{}", key, oracle, did_you_mean(key, keys)),
            value.key);
    if (const Status ok = check_finding_words(one); !ok) return ok;
  }
  return Done{};
}

}  // namespace rankfault
