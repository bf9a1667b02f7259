#include "harness/live/read_environment.h"

#include <fmt/format.h>

#include "harness/base/file_text.h"
#include "harness/base/mask.h"

namespace rankfault {

Json read_environment(int pid, const std::vector<std::string>& names) {
  const std::string all = text_of_file(fmt::format("/proc/{}/environ", pid));
  if (all.empty()) return nullptr;  // a process that has ended has none
  Json out = Json::object();
  for (size_t at = 0; at < all.size();) {
    const std::string entry = all.c_str() + at;
    at += entry.size() + 1;
    for (const std::string& name : names)
      if (entry.rfind(name + "=", 0) == 0) {
        const std::string value = entry.substr(name.size() + 1);
        out[name] = names_secret(name) ? comparable_mask(value) : value;
      }
  }
  return out;
}

}  // namespace rankfault
