// change_fields: the keys of what changes the job: a bug, the mutation checks (teeth) and the variants.
#include <fmt/format.h>

#include "harness/scenario/scenario_fields.h"

namespace rankfault {
namespace {

constexpr int kMostTimes = 100;

// It becomes the name of a run directory.
constexpr size_t kLongestId = 40;
std::string what_fits_as_id() {
  return fmt::format("1 to {} letters, digits, dashes and underscores", kLongestId);
}

// The rows that mutation checks and variants share.
template <typename S>
struct Shared {
  Field<S> args{"args", &Change::args, "appended to the command", {.placeholders = true}};
  Field<S> env{"env", &Change::env, "added to the environment", {.placeholders = true}};
  Field<S> set{"set", &Change::set,
               "places of the scenario, as keys and ids with dots, and their new values"};
};

void check_id(const Variant& variant, const Key&, const Value& value, Problems& problems) {
  if (!fits_as_name(variant.id, kLongestId))
    problems.add("the id of a variant must be " + what_fits_as_id(), value.pos);
}

}  // namespace

const Fields<Bug>& fields_of(const Bug*) {
  static const Fields<Bug> fields{
      {"args",
       &Bug::args,
       "appended to the command",
       {.needed = true, .placeholders = true, .not_empty = "a bug needs at least one argument"}},
      {"stands_for", &Bug::stands_for, "the real mistake that it stands for", {.needed = true}},
  };
  return fields;
}

const Fields<Tooth>& fields_of(const Tooth*) {
  static const Shared<Tooth> shared;
  static const Fields<Tooth> fields{
      {"id", &Change::id, "the name of the mutation check; t1, t2 ... when not given", {.always = true}},
      shared.args,
      shared.env,
      shared.set,
      {"must_fail", &Tooth::must_fail, "the id of the expectation that must fail", {.needed = true}},
  };
  return fields;
}

const Fields<Variant>& fields_of(const Variant*) {
  static const Shared<Variant> shared;
  static const Fields<Variant> fields{
      {"id", &Change::id, "the name of the variant: " + what_fits_as_id(), {.needed = true}, check_id},
      shared.args,
      shared.env,
      {"ranks", &Variant::ranks, "another number of ranks", {.least = 1, .most = kMostRanks}},
      shared.set,
      {"times",
       &Variant::times,
       "how often it is run; once when not given",
       {.least = 1, .most = kMostTimes}},
  };
  return fields;
}

bool read_value(const Value& value, const Key& key, std::vector<Tooth>& out, Problems& problems) {
  const Value::List* items = items_of(value, key, "mutation checks", problems);
  if (!items) return false;
  for (const Value& item : *items) {
    Tooth tooth;
    tooth.id = fmt::format("t{}", out.size() + 1);
    if (!read_map(item, "a mutation check", tooth, problems)) continue;
    if (tooth.args.empty() && tooth.env.empty() && tooth.set.empty())
      problems.add("a mutation check must have args, env or set", item.pos);
    out.push_back(std::move(tooth));
  }
  return true;
}

bool read_value(const Value& value, const Key& key, std::vector<Variant>& out, Problems& problems) {
  const Value::List* items = items_of(value, key, "variants", problems);
  if (!items) return false;
  for (const Value& item : *items) {
    Variant variant;
    if (!read_map(item, "a variant", variant, problems)) continue;
    for (const Variant& other : out)
      if (const Value* id = item.find("id"); id && is_scalar(*id) && other.id == variant.id)
        problems.add(fmt::format("two variants are called \"{}\"", variant.id), id->pos);
    out.push_back(std::move(variant));
  }
  return true;
}

}  // namespace rankfault
