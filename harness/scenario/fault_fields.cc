// fault_fields: the keys of every fault. All other keys are left to the kind of the fault.
#include <fmt/format.h>

#include <algorithm>

#include "harness/scenario/params.h"
#include "harness/scenario/scenario_fields.h"

namespace rankfault {
namespace {

Value params_of(const Value& fault) {
  static const std::vector<std::string> common = names_of(keys_of<FaultSpec>());
  Value::Map own;
  for (const auto& [key, value] : *fault.map())
    if (std::find(common.begin(), common.end(), key) == common.end()) own.emplace_back(key, value);
  return map_value(std::move(own), fault.pos);
}

void name_unnamed(std::vector<FaultSpec>& faults) {
  std::set<std::string> taken;
  for (const FaultSpec& fault : faults) taken.insert(fault.id);
  for (FaultSpec& fault : faults)
    if (fault.id.empty()) fault.id = fresh_id(fault.kind, taken);
}

}  // namespace

const Fields<FaultSpec>& fields_of(const FaultSpec*) {
  static const Fields<FaultSpec> fields{
      {"id", &FaultSpec::id, "the name of the fault; the kind, kind#2 ... when not given", {.always = true}},
      {"kind", &FaultSpec::kind, "what happens (rankfault list faults)", {.needed = true}},
      {"ranks", &FaultSpec::ranks, "the victims: a rank, a list, a range as 8-15, or all", {.needed = true}},
      {"at", &FaultSpec::at, "the trigger"},
      {"times",
       &FaultSpec::times,
       "how often it fires in the whole run, over all attempts; 1 when the kind does not say otherwise",
       {.least = 1}},
      {"each_attempt", &FaultSpec::each_attempt, "count again in each attempt"},
      {"optional", &FaultSpec::optional, "it need not fire"},
  };
  return fields;
}

bool read_value(const Value& value, const Key& key, std::vector<FaultSpec>& out, Problems& problems) {
  const Value::List* items = items_of(value, key, "faults", problems);
  if (!items) return false;
  for (const Value& item : *items) {
    FaultSpec fault;
    if (!read_keys(item, "a fault", fault, problems)) continue;
    if (const Value* kind = item.find("kind")) fault.kind_pos = kind->pos;
    fault.params = params_of(item);
    out.push_back(std::move(fault));
  }
  name_unnamed(out);
  return true;
}

void read_faults(const Value& value, std::vector<FaultSpec>& out, Problems& problems) {
  read_value(value, Key{{}, "faults"}, out, problems);
}

Value write_value(const FaultSpec& fault, const SourcePos& pos) {
  Value out = write_map(fault, pos);
  if (fault.params.map())
    for (const auto& [key, value] : *fault.params.map()) set_entry(out, key, value);
  return out;
}

bool read_value(const Value& value, const Key&, RankSet& out, Problems& problems) {
  Result<RankSet> set = read_rank_set(value);
  if (set)
    out = *set;
  else
    problems.add(set.error(), value.pos);
  return set.ok();
}

Value write_value(const RankSet& set, const SourcePos&) { return to_value(set); }

Json shape_of(const RankSet*, const Rules&) { return shape::ref("ranks"); }

bool read_value(const Value& value, const Key& key, Times& out, Problems& problems) {
  out.given = true;
  if (value.text != "unlimited") return read_value(value, key, out.count, problems);
  out.count = kEveryTime;
  return true;
}

Value write_value(const Times& times, const SourcePos& pos) {
  if (!times.given) return {};
  return times.count == kEveryTime ? text_value("unlimited", pos) : int_value(times.count, pos);
}

Json shape_of(const Times*, const Rules& rules) {
  return shape::any_of({shape_of_whole(rules), {{"const", "unlimited"}}});
}

}  // namespace rankfault
