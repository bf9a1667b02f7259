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

namespace {

bool is_of_the_host(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EROFS:
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EACCES:
    case EPERM:
      return true;
    default:
      return false;
  }
}

}  // namespace

Error errno_error(const std::string& what, int number) {
  return {is_of_the_host(number) ? ErrorKind::kHost : ErrorKind::kRefused,
          what + ": " + std::strerror(number),
          {}};
}

Error errno_error(const std::string& what) { return errno_error(what, errno); }

}  // namespace rankfault
