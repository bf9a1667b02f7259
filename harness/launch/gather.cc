// gather.cc: see gather.h.
#include "harness/launch/gather.h"

#include <glob.h>

#include <fstream>

#include "harness/base/file_text.h"

namespace rankfault {

std::vector<std::string> files_matching(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

std::string read_text(const std::string& path) { return text_of_file(path); }

Status gather(const std::vector<std::string>& sources, const std::string& log) {
  std::ofstream out(log, std::ios::binary | std::ios::trunc);
  for (const std::string& source : sources) out << read_text(source);
  out.flush();
  if (!out) return errno_error("write " + log);
  return Done{};
}

}  // namespace rankfault
