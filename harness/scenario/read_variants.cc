// read_variants: reads the ways to run a scenario, which its expectations compare.
#include <fmt/format.h>

#include "harness/scenario/placeholders.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

constexpr int kMostTimes = 100;
constexpr int kMostRanks = 16384;

// The id becomes the name of a run directory.
bool fits_as_name(const std::string& id) {
  return !id.empty() && id.size() <= 40 && id[0] != '.' && id[0] != '-' &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

void read_id(MapReader& in, Variant& out, const std::vector<Variant>& before, Problems& problems) {
  if (!in.need("id") || !in.text("id", out.id)) return;
  const SourcePos pos = in.value().find("id")->pos;
  if (!fits_as_name(out.id))
    problems.add("the id of a variant must be 1 to 40 letters, digits, dashes and underscores", pos);
  for (const Variant& other : before)
    if (other.id == out.id) problems.add(fmt::format("two variants are called \"{}\"", out.id), pos);
}

Variant read_variant(const Value& item, LauncherKind launcher, const std::vector<Variant>& before,
                     Problems& problems) {
  MapReader in(item, "a variant", problems);
  Variant variant;
  variant.pos = item.pos;
  read_id(in, variant, before, problems);
  in.texts("args", variant.args);
  in.text_map("env", variant.env);
  if (int ranks = 0; in.number("ranks", ranks, 1, kMostRanks)) variant.ranks = ranks;
  if (const Value* set = in.find("set")) {
    if (!set->map())
      problems.add("\"set\" must be a map, such as {workload.launcher: mpirun}", set->pos);
    else
      variant.set = *set->map();
  }
  const Value* const other = item.find("set") ? item.find("set")->find("workload.launcher") : nullptr;
  for (const char* key : {"args", "env"})
    if (const Value* words = item.find(key))
      check_placeholders(*words, problems, other ? nullptr : why_no_rank(launcher));
  in.number("times", variant.times, 1, kMostTimes);
  in.finish();
  return variant;
}

}  // namespace

void read_variants(const Value& value, LauncherKind launcher, std::vector<Variant>& out, Problems& problems) {
  if (!value.list()) {
    problems.add(fmt::format("\"variants\" must be a list, not {}", kind_of(value)), value.pos);
    return;
  }
  if (value.list()->size() < 2 || value.list()->size() > kMostItems) {
    problems.add(
        fmt::format("\"variants\" must have 2 to {} items, not {}", kMostItems, value.list()->size()),
        value.pos);
    return;
  }
  for (const Value& item : *value.list()) {
    Variant variant = read_variant(item, launcher, out, problems);
    if (item.map()) out.push_back(std::move(variant));
  }
}

}  // namespace rankfault
