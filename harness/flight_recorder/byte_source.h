// byte_source: the bytes of a dump from memory, a file or a gzip file. They are read in order, and then a
// second time from the start.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/base/unique_fd.h"
#include "harness/flight_recorder/limits.h"

namespace rankfault {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads at most `bytes` bytes into `to`; returns 0 at the end.
  virtual Result<size_t> read(char* to, size_t bytes) = 0;
  virtual Status rewind() = 0;
};

// The bytes are the caller's and must live as long as the source.
std::unique_ptr<ByteSource> memory_source(std::string_view bytes);
// Reads the file instead of mapping it. If the file is cut meanwhile, it ends early and causes no SIGBUS.
std::unique_ptr<ByteSource> file_source(UniqueFd fd);
// Unpacks `packed` (RFC 1952, also several members). Refuses input that unpacks to more than the limits.
std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> packed, const FrLimits& limits);
// The source itself, or its unpacked content when it begins like a gzip file; read from the start.
Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> source, const FrLimits& limits);

// A window on a source: `need` makes bytes contiguous, however the source splits them.
class ByteWindow {
 public:
  ByteWindow(ByteSource& source, const FrLimits& limits);

  // True when the next `bytes` bytes are there. Memory grows with the bytes that arrived, never with a
  // promised length.
  bool need(size_t bytes) { return bytes <= static_cast<size_t>(end_ - at_) || fill(bytes); }
  const char* data() const { return at_; }
  size_t available() const { return static_cast<size_t>(end_ - at_); }
  void skip(size_t bytes) { at_ += bytes; }  // only bytes that are there
  bool skip_long(uint64_t bytes);            // any number; false when the source ends before
  uint64_t offset() const { return base_ + static_cast<uint64_t>(at_ - buffer_.get()); }
  // The error that ended the bytes early, else the position of the end: "ends at byte 17".
  Error end_error() const;

 private:
  bool fill(size_t bytes);
  ByteSource& source_;
  uint64_t limit_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_;
  const char* at_;
  char* end_;
  uint64_t base_ = 0;  // offset of the buffer's first byte
  std::unique_ptr<Error> failed_;
};

}  // namespace rankfault
