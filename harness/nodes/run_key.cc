#include "harness/nodes/run_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "harness/base/unique_fd.h"

namespace rankfault {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Why this open file must not be used as a key; "" if it may.
std::string objection_to(int file) {
  struct stat st {};
  if (::fstat(file, &st) != 0) return "it cannot be examined";
  if (!S_ISREG(st.st_mode)) return "it is not a regular file";
  if (st.st_uid != ::geteuid())
    return fmt::format("it belongs to user {}, and this process runs as user {}", st.st_uid, ::geteuid());
  if ((st.st_mode & 077) != 0)
    return fmt::format("other users may use it (mode {:04o}): run chmod 600", st.st_mode & 07777);
  return "";
}

}  // namespace

void fill_with_random_bytes(std::span<uint8_t> bytes) {
  ssize_t got = 0;
  do got = ::getrandom(bytes.data(), bytes.size(), 0);
  while (got < 0 && errno == EINTR);
  RF_ASSERT(got == static_cast<ssize_t>(bytes.size()), "getrandom() gives up to 256 bytes at once");
}

RunKey RunKey::fresh() {
  RunKey key;
  fill_with_random_bytes(key.bytes_);
  return key;
}

std::optional<RunKey> RunKey::from_hex(const std::string& text) {
  RunKey key;
  if (text.size() != 2 * kBytes) return std::nullopt;
  for (size_t i = 0; i < kBytes; ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key.bytes_[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return key;
}

std::string RunKey::hex() const {
  std::string text;
  for (const uint8_t byte : bytes_) text += fmt::format("{:02x}", byte);
  return text;
}

Status RunKey::write(const std::string& path) const {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return errno_error("cannot make the file of the run's key " + path);
  const std::string text = hex() + "\n";
  // A default ACL of the folder may have given rights to others.
  int number = ::fchmod(file.get(), 0600) == 0 ? 0 : errno;
  if (number == 0) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size())) number = written < 0 ? errno : ENOSPC;
  }
  // NFS reports a full disk only here.
  if (::close(file.release()) != 0 && number == 0) number = errno;
  if (number == 0) return Done{};
  ::unlink(path.c_str());
  return errno_error("cannot write the run's key to " + path, number);
}

Result<RunKey> RunKey::read(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() && errno == ELOOP)
    return refused(path + " is not used as the run's key: it is a symbolic link");
  if (!file.valid()) return errno_error("cannot read the run's key from " + path);
  if (const std::string why = objection_to(file.get()); !why.empty())
    return refused(path + " is not used as the run's key: " + why);
  std::string text(2 * kBytes + 2, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return errno_error("cannot read the run's key from " + path);
  text.resize(static_cast<size_t>(got));
  if (text.ends_with('\n')) text.pop_back();
  if (const std::optional<RunKey> key = from_hex(text)) return *key;
  return refused(fmt::format("{} is not used as the run's key: it does not hold {} hexadecimal digits", path,
                             2 * kBytes));
}

}  // namespace rankfault
