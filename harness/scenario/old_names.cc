#include "harness/scenario/old_names.h"

#include <map>

namespace rankfault {

std::optional<std::string> renamed_oracle(const std::string& name) {
  static const std::map<std::string, std::string> kRenamed{{"told", "reported"}};  // since 0.1.0
  const auto found = kRenamed.find(name);
  return found == kRenamed.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace rankfault
