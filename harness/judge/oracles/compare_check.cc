// compare_check: checks the parameters of the oracle `compare`.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/suggest.h"
#include "harness/judge/measures.h"
#include "harness/judge/oracles/compare.h"
#include "harness/scenario/op_names.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

Status check_between(const ExpectationSpec& spec, const Scenario& scenario) {
  const std::vector<std::string> known = variant_ids(scenario);
  if (known.empty())
    return usage_error("compare has nothing to compare: add \"variants\" to the scenario", spec.pos);
  const Value* between = spec.params.find("between");
  if (!between) return Done{};
  std::vector<std::string> seen;
  for (const std::string& id : read_texts(spec.params, "between")) {
    const auto at = [&] {
      if (between->list())
        for (const Value& item : *between->list())
          if (item.text == id) return item.pos;
      return between->pos;
    };
    if (std::find(known.begin(), known.end(), id) == known.end())
      return usage_error(fmt::format("unknown variant \"{}\" in \"between\"{}", id, did_you_mean(id, known)),
                         at());
    if (std::find(seen.begin(), seen.end(), id) != seen.end())
      return usage_error(fmt::format("\"between\" names \"{}\" twice", id), at());
    seen.push_back(id);
  }
  if (seen.size() < 2) return usage_error("\"between\" must name at least two variants", between->pos);
  return Done{};
}

Status check_within(const ExpectationSpec& spec, const std::string& value) {
  const Value* within = spec.params.find("within");
  const std::string word = within && is_scalar(*within) ? within->text : "";
  const bool bound =
      within && within->map() && within->map()->size() == 1 && (within->find("abs") || within->find("rel"));
  if (within && !bound && word != "exact" && word != "differs" && word != "shown")
    return usage_error("\"within\" must be exact, differs, shown, {abs: x} or {rel: x}", within->pos);
  if (bound && read_number(*within, "abs", 0) + read_number(*within, "rel", 0) <= 0)
    return usage_error("a bound must be a number above 0 (of seconds, where times are compared)",
                       within->pos);
  if (is_time_measure(value) && (!within || word == "exact" || word == "differs"))
    return usage_error(
        fmt::format("no two times are the same: \"within\" of {} must be shown, {{abs: x}} or {{rel: x}}",
                    value),
        within ? within->pos : spec.pos);
  return Done{};
}

Status check_op(const ExpectationSpec& spec, const std::string& value) {
  const Value* op = spec.params.find("op");
  if (!op)
    return value != "calls" ? Status(Done{})
                            : usage_error("\"value: calls\" needs \"op\": the calls to count", spec.pos);
  if (value != "calls") return usage_error("\"op\" belongs to \"value: calls\"", op->pos);
  const std::optional<rf_op> named = op_from_word(op->text);
  if (!named)
    return usage_error(fmt::format("unknown op \"{}\"{}", op->text, did_you_mean(op->text, all_op_words())),
                       op->pos);
  if (is_file_op(*named) && op->text.rfind("shm_", 0) != 0)
    return usage_error(
        "compare cannot count file operations, except those on shared memory: not all of them are recorded",
        op->pos);
  return Done{};
}

}  // namespace

std::vector<std::string> variant_ids(const Scenario& scenario) {
  std::vector<std::string> out;
  for (const Variant& variant : scenario.variants) out.push_back(variant.id);
  return out;
}

Status check_compare(const ExpectationSpec& spec, const Scenario& scenario) {
  const std::string value = read_text(spec.params, "value");
  if (Status ok = check_between(spec, scenario); !ok) return ok;
  if (Status ok = check_within(spec, value); !ok) return ok;
  if (Status ok = check_op(spec, value); !ok) return ok;
  const Value* at = spec.params.find("at");
  if (at && is_measure(value)) return usage_error("\"at\" belongs to a value that ranks report", at->pos);
  return Done{};
}

}  // namespace rankfault
