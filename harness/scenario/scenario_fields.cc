#include "harness/scenario/scenario_fields.h"

#include <fmt/format.h>

#include "harness/base/suggest.h"
#include "harness/scenario/placeholders.h"

namespace rankfault {
namespace {

constexpr int64_t kFormatVersion = 1;

// The name becomes part of file names.
constexpr size_t kLongestName = 100;
std::string what_fits_as_name() {
  return fmt::format("1 to {} letters, digits, dots, dashes and underscores", kLongestName);
}

void check_name(const Scenario& scenario, const Key&, const Value& value, Problems& problems) {
  if (!fits_as_name(scenario.name, kLongestName, "."))
    problems.add("\"name\" must be " + what_fits_as_name(), value.pos);
}

// Checks the words in braces of a map, or of each map of a list.
void check_words(const Scenario& scenario, const Key& key, const Value& value, Problems& problems) {
  const char* no_rank = why_no_rank(scenario.workload.launcher);
  if (value.map()) check_placeholders(value, key.below, problems, no_rank);
  if (value.list())
    for (const Value& item : *value.list()) check_placeholders(item, key.below, problems, no_rank);
}

// A variant may set another launcher, which may have a value for {rank}.
void check_words_of_variants(const Scenario& scenario, const Key& key, const Value& value,
                             Problems& problems) {
  for (const Value& item : *value.list()) {
    const Value* set = item.find("set");
    const bool other = set && set->find("workload.launcher");
    check_placeholders(item, key.below, problems, other ? nullptr : why_no_rank(scenario.workload.launcher));
  }
}

}  // namespace

const Fields<Scenario>& fields_of(const Scenario*) {
  static const Fields<Scenario> fields{
      {"version", &Scenario::version, "the version of this format", {.needed = true}},
      {"name", &Scenario::name, what_fits_as_name() + "; part of file names", {.needed = true}, check_name},
      {"summary", &Scenario::summary, "one sentence"},
      {"workload", &Scenario::workload, "the program that runs", {.needed = true}, check_words},
      {"reference",
       &Scenario::reference_fault_free,
       {{"fault_free", true}},
       "run once without faults first; that run must pass, and it gives the values to compare"},
      {"seed", &Scenario::seed, "the seed of every random choice; when not given it comes from the name"},
      {"teeth",
       &Scenario::teeth,
       "mutation checks: each switches one defence of the workload off, and the scenario must then fail",
       {},
       check_words},
      {"variants",
       &Scenario::variants,
       "two or more ways to run the scenario, to be compared",
       {.least = 2},
       check_words_of_variants},
      {"bug",
       &Scenario::bug,
       "a mistake in the program itself, switched on by arguments; rankfault injects nothing",
       {},
       check_words},
      {"faults", &Scenario::faults, "what goes wrong, and when"},
      {"expect",
       &Scenario::expect,
       "what must be true; at least one item",
       {.needed = true, .not_empty = "write at least one expectation"}},
      {"must_be", &Scenario::must_be, "the correct verdict; pass when not given"},
  };
  return fields;
}

bool read_value(const Value& value, const Key&, FormatVersion&, Problems& problems) {
  const int64_t* number = std::get_if<int64_t>(&value.data);
  if (number && *number == kFormatVersion) return true;
  problems.add(fmt::format("this rankfault reads version {}, not {}", kFormatVersion, kind_of(value)),
               value.pos);
  return false;
}
Value write_value(const FormatVersion&, const SourcePos& pos) { return int_value(kFormatVersion, pos); }
Json shape_of(const FormatVersion*, const Rules&) { return {{"const", kFormatVersion}}; }

const Fields<MustBe>& fields_of(const MustBe*) {
  static const Fields<MustBe> fields{
      {"fail", &MustBe::expectation, "the id of the expectation that must fail", {.needed = true}}};
  return fields;
}

bool read_value(const Value& value, const Key& key, MustBe& out, Problems& problems) {
  if (value.map()) {
    out.kind = MustBe::Kind::kFail;
    return read_map(value, key.name, out, problems);
  }
  if (value.text == "void") out.kind = MustBe::Kind::kVoid;
  if (value.text == "pass" || value.text == "void") return true;
  problems.add(fmt::format("\"must_be\" must be pass, void or {{fail: EXPECTATION}}, not {}{}",
                           kind_of(value), did_you_mean(value.text, {"pass", "void"})),
               value.pos);
  return false;
}
Value write_value(const MustBe& must_be, const SourcePos& pos) {
  if (must_be.kind == MustBe::Kind::kPass) return {};
  return must_be.kind == MustBe::Kind::kVoid ? text_value("void", pos) : write_map(must_be, pos);
}
Json shape_of(const MustBe*, const Rules&) {
  return shape::any_of({shape::one_of({"pass", "void"}), shape_of_map(keys_of<MustBe>())});
}

std::string fresh_id(const std::string& base, std::set<std::string>& taken) {
  std::string id = base;
  for (int n = 2; !taken.insert(id).second; ++n) id = fmt::format("{}#{}", base, n);
  return id;
}

bool fits_as_name(const std::string& text, size_t longest, const std::string& others) {
  const std::string fit = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-" + others;
  return !text.empty() && text.size() <= longest && text[0] != '.' && text[0] != '-' &&
         text.find_first_not_of(fit) == std::string::npos;
}

}  // namespace rankfault
