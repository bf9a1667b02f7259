// read_environment: see read_environment.h.
#include "harness/live/read_environment.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "harness/base/mask.h"

namespace rankfault {

Json read_environment(int pid, const std::vector<std::string>& names) {
  std::ifstream in(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
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
