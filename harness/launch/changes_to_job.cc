#include "harness/launch/changes_to_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/mask.h"
#include "harness/base/own_environment.h"

namespace rankfault {

std::vector<std::string> changes_to_job(const Command& command) {
  std::vector<std::string> lines{fmt::format("starts  {}", fmt::join(masked_words(command.argv), " "))};
  std::map<std::string, std::string> before = own_environment();
  for (const auto& [name, value] : command.env) {
    const auto known = before.find(name);
    const std::string told = name + "=" + masked_value(name, value);
    if (known == before.end())
      lines.push_back("adds    " + told);
    else if (known->second != value)
      lines.push_back(fmt::format("changes {} (was {})", told, masked_value(name, known->second)));
    if (known != before.end()) before.erase(known);
  }
  for (const auto& [name, value] : before) lines.push_back("removes " + name);
  return lines;
}

}  // namespace rankfault
