#include "faults/argument_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/op_names.h"
#include "harness/base/suggest.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

Result<int64_t> word_number(const std::vector<const char*>& known, const Value& to, const char* what) {
  const std::vector<std::string> words(known.begin(), known.end());
  const auto it = std::find(words.begin() + 1, words.end(), to.text);
  if (it != words.end()) return static_cast<int64_t>(it - words.begin());
  return usage_error(fmt::format("{} is not a {}{}", kind_of(to), what, did_you_mean(to.text, words)),
                     to.pos);
}

Result<int64_t> whole_number(const Value& to, int64_t below, const char* what) {
  const int64_t* number = std::get_if<int64_t>(&to.data);
  if (number && *number >= 0 && *number < below) return *number;
  return usage_error(fmt::format("{} is not a {}", kind_of(to), what), to.pos);
}

}  // namespace

const std::vector<std::string>& argument_fields() {
  static const std::vector<std::string> fields{"count", "dtype", "root", "reduce_op"};
  return fields;
}

rf_changed_arg argument_from_word(const std::string& field) {
  const auto& fields = argument_fields();
  return static_cast<rf_changed_arg>(std::find(fields.begin(), fields.end(), field) - fields.begin() + 1);
}

Result<int64_t> argument_value(rf_changed_arg field, const Value& to, int world_size) {
  switch (field) {
    case RF_ARG_COUNT:
      return whole_number(to, int64_t{1} << 40, "count of elements");
    case RF_ARG_ROOT:
      return whole_number(to, world_size, "rank of this job");
    case RF_ARG_DTYPE:
      return word_number(dtype_words(), to, "datatype");
    case RF_ARG_REDUCE_OP:
      return word_number(reduce_op_words(), to, "reduce op");
    case RF_ARG_PEER:
      break;
  }
  return usage_error("change_argument cannot change this argument", to.pos);
}

std::string argument_text(rf_changed_arg field, int64_t value) {
  const std::vector<const char*>& words = field == RF_ARG_DTYPE ? dtype_words() : reduce_op_words();
  const bool named = field == RF_ARG_DTYPE || field == RF_ARG_REDUCE_OP;
  return named && static_cast<size_t>(value) < words.size() ? words[static_cast<size_t>(value)]
                                                            : std::to_string(value);
}

}  // namespace rankfault
