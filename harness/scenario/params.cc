#include "harness/scenario/params.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/suggest.h"
#include "harness/scenario/fields.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

const char* must_be(ParamType type) {
  switch (type) {
    case ParamType::kBool:
      return "true or false";
    case ParamType::kInt:
      return "a whole number";
    case ParamType::kNumber:
      return "a number";
    case ParamType::kText:
      return "text";
    case ParamType::kDuration:
      return "a duration";
    case ParamType::kTextList:
      return "a list of words";
    case ParamType::kIntList:
      return "a list of whole numbers";
    case ParamType::kRankSet:
      return "ranks";
    case ParamType::kMap:
      return "a map";
    case ParamType::kSignal:
      return "a signal";
    case ParamType::kAny:
      break;
  }
  return "a value";
}

bool is_int(const Value& value) { return std::holds_alternative<int64_t>(value.data); }

bool has_shape(const Value& value, ParamType type) {
  const auto all = [&](auto fits) {
    return value.list() && std::all_of(value.list()->begin(), value.list()->end(), fits);
  };
  switch (type) {
    case ParamType::kBool:
      return std::holds_alternative<bool>(value.data);
    case ParamType::kInt:
      return is_int(value);
    case ParamType::kNumber:
      return is_int(value) || std::holds_alternative<double>(value.data);
    case ParamType::kTextList:
      return is_scalar(value) || all(is_scalar);
    case ParamType::kIntList:
      return is_int(value) || all(is_int);
    case ParamType::kMap:
      return value.map() != nullptr;
    case ParamType::kText:
    case ParamType::kDuration:
    case ParamType::kSignal:
      return is_scalar(value);
    case ParamType::kRankSet:
    case ParamType::kAny:
      break;
  }
  return true;
}

Status check_choice(const Value& word, const ParamSpec& spec) {
  if (spec.choices.empty()) return Done{};
  if (std::find(spec.choices.begin(), spec.choices.end(), word.text) != spec.choices.end()) return Done{};
  return usage_error(
      fmt::format("\"{}\" must be one of {}, not \"{}\"{}", spec.name, fmt::join(spec.choices, ", "),
                  word.text, did_you_mean(word.text, spec.choices)),
      word.pos);
}

Status check_content(const Value& value, const ParamSpec& spec) {
  const auto placed = [&](Error error) {
    if (error.where.file.empty() && error.where.line == 0) error.where = value.pos;
    return error;
  };
  switch (spec.type) {
    case ParamType::kDuration:
      if (auto read = parse_duration(value.text); !read) return placed(read.error());
      break;
    case ParamType::kRankSet:
      if (auto read = read_rank_set(value); !read) return placed(read.error());
      break;
    case ParamType::kSignal:
      if (auto read = read_signal(value); !read) return placed(read.error());
      break;
    case ParamType::kText:
      return check_choice(value, spec);
    case ParamType::kTextList:
      if (is_scalar(value)) return check_choice(value, spec);
      for (const Value& item : *value.list())
        if (Status ok = check_choice(item, spec); !ok) return ok;
      break;
    default:
      break;
  }
  return Done{};
}

Status check_one(const Value& value, const ParamSpec& spec, const std::string& owner) {
  if (!has_shape(value, spec.type))
    return usage_error(
        fmt::format("\"{}\" of {} must be {}, not {}", spec.name, owner, must_be(spec.type), kind_of(value)),
        value.pos);
  return check_content(value, spec);
}

}  // namespace

Status check_params(const Value& params, const std::vector<ParamSpec>& specs, const std::string& owner) {
  const std::vector<Error> all = all_mistakes(params, specs, owner);
  return all.empty() ? Status(Done{}) : all.front();
}

std::vector<Error> all_mistakes(const Value& params, const std::vector<ParamSpec>& specs,
                                const std::string& owner, const std::vector<std::string>& also_known) {
  if (!params.map())
    return {
        usage_error(fmt::format("{} takes a map of parameters, not {}", owner, kind_of(params)), params.pos)};
  std::vector<Error> all;
  std::vector<std::string> known = also_known;
  for (const ParamSpec& spec : specs) known.emplace_back(spec.name);
  for (const auto& [name, value] : *params.map()) {
    const std::string& key = name;  // clang 14 cannot capture a structured binding in a lambda
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& s) { return key == s.name; });
    if (spec == specs.end())
      all.push_back(usage_error(unknown_key(key, owner, known), value.key));
    else if (Status ok = check_one(value, *spec, owner); !ok)
      all.push_back(ok.error());
  }
  for (const ParamSpec& spec : specs)
    if (spec.required && !params.find(spec.name))
      all.push_back(usage_error(fmt::format("{} needs \"{}\": {}", owner, spec.name, spec.doc), params.pos));
  return all;
}

bool read_bool(const Value& params, const char* name, bool otherwise) {
  const Value* value = params.find(name);
  const bool* yes = value ? std::get_if<bool>(&value->data) : nullptr;
  return yes ? *yes : otherwise;
}

int64_t read_int(const Value& params, const char* name, int64_t otherwise) {
  const Value* value = params.find(name);
  const int64_t* whole = value ? std::get_if<int64_t>(&value->data) : nullptr;
  return whole ? *whole : otherwise;
}

double read_number(const Value& params, const char* name, double otherwise) {
  const Value* value = params.find(name);
  if (!value) return otherwise;
  if (const int64_t* whole = std::get_if<int64_t>(&value->data)) return static_cast<double>(*whole);
  const double* number = std::get_if<double>(&value->data);
  return number ? *number : otherwise;
}

std::string read_text(const Value& params, const char* name, const std::string& otherwise) {
  const Value* value = params.find(name);
  return value && is_scalar(*value) ? value->text : otherwise;
}

std::vector<std::string> read_texts(const Value& params, const char* name) {
  const Value* value = params.find(name);
  if (!value) return {};
  if (is_scalar(*value)) return {value->text};
  std::vector<std::string> out;
  if (value->list())
    for (const Value& item : *value->list()) out.push_back(item.text);
  return out;
}

std::optional<Duration> read_duration(const Value& params, const char* name) {
  const Value* value = params.find(name);
  if (!value || !is_scalar(*value)) return std::nullopt;
  Result<Duration> read = parse_duration(value->text);
  return read ? std::optional<Duration>(*read) : std::nullopt;
}

}  // namespace rankfault
