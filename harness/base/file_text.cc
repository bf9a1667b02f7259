#include "harness/base/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "harness/agent/agent_abi.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

namespace {

void for_each_part(const std::string& path, const std::function<void(const char*, size_t)>& take) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char part[65536];
  while (file.valid()) {
    const ssize_t n = ::read(file.get(), part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    take(part, static_cast<size_t>(n));
  }
}

}  // namespace

std::string text_of_file(const std::string& path) {
  std::string text;
  for_each_part(path, [&](const char* part, size_t bytes) { text.append(part, bytes); });
  return text;
}

uint64_t hash_of_file(const std::string& path) {
  uint64_t hash = rf_hash_bytes(0, nullptr, 0);
  for_each_part(path, [&](const char* part, size_t bytes) { hash = rf_hash_bytes(hash, part, bytes); });
  return hash;
}

std::string tail_of_file(const std::string& file, size_t most) {
  // O_NOCTTY: the file may be the rank's terminal, whose end would otherwise end us.
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat st {};
  if (!fd.valid() || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return "";
  std::string text(std::min(static_cast<size_t>(st.st_size), most), 0);
  const ssize_t got =
      ::pread(fd.get(), text.data(), text.size(), st.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (static_cast<size_t>(st.st_size) > most)
    text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);  // half a line
  return text;
}

}  // namespace rankfault
