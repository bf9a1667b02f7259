#include "harness/base/own_environment.h"

#include <cstring>

extern char** environ;

namespace rankfault {

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> env;
  for (char** entry = environ; *entry; ++entry)
    if (const char* equals = std::strchr(*entry, '='))
      env.emplace(std::string(*entry, static_cast<size_t>(equals - *entry)), equals + 1);
  return env;
}

}  // namespace rankfault
