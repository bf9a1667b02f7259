#include "harness/base/result.h"

#include <cerrno>
#include <cstring>

namespace rankfault {

std::string SourcePos::to_string() const {
  if (file.empty()) return "";
  if (line <= 0) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column > 0 ? column : 1);
}

std::string Error::to_string() const {
  const std::string place = where.to_string();
  return place.empty() ? message : place + ": " + message;
}

Error errno_error(const std::string& what) { return refused(what + ": " + std::strerror(errno)); }

}  // namespace rankfault
