// read_faults: reads the faults. It leaves the keys that are not common to all faults to the kind.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/scenario/params.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

void read_times(MapReader& in, FaultSpec& out) {
  const Value* times = in.find("times");
  if (!times) return;
  out.times_given = true;
  if (times->text == "unlimited")
    out.times = kEveryTime;
  else
    in.number("times", out.times, 1, std::numeric_limits<int64_t>::max());
}

Value params_of(const Value& fault) {
  Value::Map own;
  const auto& common = common_fault_keys();
  for (const auto& [key, value] : *fault.map())
    if (std::find(common.begin(), common.end(), key) == common.end()) own.emplace_back(key, value);
  Value out;
  out.data = std::move(own);
  out.pos = out.key = fault.pos;
  return out;
}

void name_unnamed(std::vector<FaultSpec>& faults) {
  std::set<std::string> taken;
  for (const FaultSpec& fault : faults) taken.insert(fault.id);
  for (FaultSpec& fault : faults)
    if (fault.id.empty()) fault.id = fresh_id(fault.kind, taken);
}

}  // namespace

std::string fresh_id(const std::string& base, std::set<std::string>& taken) {
  std::string id = base;
  for (int n = 2; !taken.insert(id).second; ++n) id = fmt::format("{}#{}", base, n);
  return id;
}

const std::vector<std::string>& common_fault_keys() {
  static const std::vector<std::string> keys{"id",    "kind",         "ranks",   "at",
                                             "times", "each_attempt", "optional"};
  return keys;
}

void read_faults(const Value& value, std::vector<FaultSpec>& out, Problems& problems) {
  if (!value.list()) {
    problems.add(fmt::format("\"faults\" must be a list, not {}", kind_of(value)), value.pos);
    return;
  }
  if (value.list()->size() > kMostItems) {
    problems.add(fmt::format("{} faults are too many: a scenario can have at most {}", value.list()->size(),
                             kMostItems),
                 value.pos);
    return;
  }
  for (const Value& item : *value.list()) {
    FaultSpec fault;
    fault.pos = item.pos;
    MapReader in(item, "a fault", problems);
    if (!item.map()) continue;
    in.text("id", fault.id);
    if (const Value* kind = in.need("kind"); kind && in.text("kind", fault.kind)) fault.kind_pos = kind->pos;
    if (const Value* ranks = in.need("ranks")) {
      Result<RankSet> set = read_rank_set(*ranks);
      if (set)
        fault.ranks = *set;
      else
        problems.add(set.error(), ranks->pos);
    }
    if (const Value* at = in.find("at")) fault.at = read_trigger(*at, "at", problems);
    read_times(in, fault);
    in.flag("each_attempt", fault.each_attempt);
    in.flag("optional", fault.optional);
    fault.params = params_of(item);
    out.push_back(std::move(fault));
  }
  name_unnamed(out);
}

}  // namespace rankfault
