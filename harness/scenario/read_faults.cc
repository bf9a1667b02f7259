// read_faults: what goes wrong. Keys that are not common to all faults stay for the kind to read.
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
  for (FaultSpec& fault : faults) {
    if (!fault.id.empty()) continue;
    const auto taken = [&](const std::string& id) {
      return std::any_of(faults.begin(), faults.end(), [&](const FaultSpec& f) { return f.id == id; });
    };
    std::string id = fault.kind;
    for (int n = 2; taken(id); ++n) id = fmt::format("{}#{}", fault.kind, n);
    fault.id = id;
  }
}

}  // namespace

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
