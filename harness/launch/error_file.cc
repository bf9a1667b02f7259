#include "harness/launch/error_file.h"

#include "harness/base/file_text.h"
#include "harness/base/json.h"
#include "harness/base/mask.h"

namespace rankfault {
namespace {

constexpr size_t kMost = 1 << 20;

}  // namespace

std::string traceback_in(const std::string& error_file) {
  if (error_file.empty()) return "";
  const Json json = Json::parse(tail_of_file(error_file, kMost), nullptr, false);
  const Json::json_pointer place("/message/extraInfo/py_callstack");
  if (json.is_discarded() || !json.contains(place) || !json.at(place).is_string()) return "";
  return masked_text(json.at(place).get<std::string>());
}

}  // namespace rankfault
