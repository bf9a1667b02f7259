#include "harness/flight_recorder/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace rankfault {
namespace {

constexpr size_t kWindowBytes = size_t{128} << 10;  // stays in the second-level cache

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  Result<size_t> read(char* to, size_t bytes) override {
    const size_t count = std::min(bytes, bytes_.size() - at_);
    if (count) std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  Status rewind() override {
    at_ = 0;
    return Done{};
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

class FileSource : public ByteSource {
 public:
  explicit FileSource(UniqueFd fd) : fd_(std::move(fd)) {}
  Result<size_t> read(char* to, size_t bytes) override {
    for (;;) {
      const ssize_t count = ::read(fd_.get(), to, bytes);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) return errno_error("read");
    }
  }
  Status rewind() override {
    if (::lseek(fd_.get(), 0, SEEK_SET) != 0) return errno_error("seek");
    return Done{};
  }

 private:
  UniqueFd fd_;
};

}  // namespace

std::unique_ptr<ByteSource> memory_source(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}
std::unique_ptr<ByteSource> file_source(UniqueFd fd) { return std::make_unique<FileSource>(std::move(fd)); }

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> source, const FrLimits& limits) {
  unsigned char magic[2] = {};
  size_t have = 0;
  while (have < sizeof magic) {
    const Result<size_t> count = source->read(reinterpret_cast<char*>(magic) + have, sizeof magic - have);
    if (!count) return count.error();
    if (*count == 0) break;
    have += *count;
  }
  if (const Status back = source->rewind(); !back) return back.error();
  if (have == 2 && magic[0] == 0x1f && magic[1] == 0x8b) return gzip_source(std::move(source), limits);
  return source;
}

ByteWindow::ByteWindow(ByteSource& source, const FrLimits& limits)
    : source_(source),
      limit_(limits.bytes),
      buffer_(new char[kWindowBytes]),
      capacity_(kWindowBytes),
      at_(buffer_.get()),
      end_(buffer_.get()) {}

bool ByteWindow::fill(size_t bytes) {
  while (available() < bytes) {
    if (failed_) return false;
    const size_t kept = available();
    base_ += static_cast<uint64_t>(at_ - buffer_.get());
    if (kept == capacity_) {
      std::unique_ptr<char[]> larger(new (std::nothrow) char[capacity_ * 2]);
      if (!larger) return failed_ = std::make_unique<Error>(refused("not enough memory")), false;
      std::memcpy(larger.get(), at_, kept);
      buffer_ = std::move(larger);
      capacity_ *= 2;
    } else if (kept) {
      std::memmove(buffer_.get(), at_, kept);
    }
    at_ = buffer_.get();
    end_ = buffer_.get() + kept;
    const uint64_t have = base_ + kept;  // asks for one byte beyond the limit, to see whether there is more
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(capacity_ - kept, limit_ + 1 - have));
    const Result<size_t> count = source_.read(end_, wanted);
    if (!count) return failed_ = std::make_unique<Error>(count.error()), false;
    if (*count == 0) return false;
    if (have + *count > limit_) {
      failed_ = std::make_unique<Error>(refused(fmt::format("more than {} bytes", limit_)));
      return false;
    }
    end_ += *count;
  }
  return true;
}

bool ByteWindow::skip_long(uint64_t bytes) {
  while (bytes > available()) {
    bytes -= available();
    skip(available());
    if (!need(1)) return false;
  }
  skip(bytes);
  return true;
}

Error ByteWindow::end_error() const {
  if (failed_) return *failed_;
  return refused(fmt::format("ends at byte {}", base_ + static_cast<uint64_t>(end_ - buffer_.get())));
}

}  // namespace rankfault
