// gzip_source: unpacks a gzip file while it is read, with a bound against gzip bombs.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "harness/flight_recorder/byte_source.h"

namespace rankfault {
namespace {

constexpr uint64_t kFreeBytes = uint64_t{64} << 20;  // unpacked bytes below which the ratio is not checked
constexpr int kGzipOnly = 16 + MAX_WBITS;

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, const FrLimits& limits)
      : packed_(std::move(packed)), limits_(limits) {
    ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~GzipSource() override {
    if (ready_) inflateEnd(&stream_);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Status rewind() override {
    if (!ready_ || inflateReset(&stream_) != Z_OK) return refused("gzip: not enough memory");
    stream_.avail_in = 0;
    in_ = out_ = 0;
    member_ended_ = true;
    return packed_->rewind();
  }

  Result<size_t> read(char* to, size_t bytes) override {
    if (!ready_) return refused("gzip: not enough memory");
    const size_t room = std::min<size_t>(bytes, std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room && room != 0) {
      if (stream_.avail_in == 0) {
        const Result<size_t> count = packed_->read(buffer_.data(), buffer_.size());
        if (!count) return count.error();
        if (*count == 0) {
          if (member_ended_) return size_t{0};
          return refused(fmt::format("gzip: ends in the middle, after {} packed bytes", in_));
        }
        in_ += *count;
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(*count);
      }
      if (const Status step = inflate_once(); !step) return step.error();
    }
    const size_t got = room - stream_.avail_out;
    out_ += got;
    if (out_ > kFreeBytes && out_ / limits_.unpack_ratio > in_)
      return refused(fmt::format("gzip: {} bytes unpack to more than {}: refused", in_, out_));
    return got;
  }

 private:
  Status inflate_once() {
    if (member_ended_) {  // begins the first member, or the next one
      inflateReset(&stream_);
      member_ended_ = false;
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      member_ended_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return refused(fmt::format("gzip: damaged near packed byte {}: {}", in_ - stream_.avail_in,
                                 stream_.msg ? stream_.msg : "bad data"));
    }
    return Done{};
  }

  std::unique_ptr<ByteSource> packed_;
  FrLimits limits_;
  z_stream stream_{};
  std::array<char, size_t{64} << 10> buffer_{};
  uint64_t in_ = 0, out_ = 0;
  bool ready_ = false;
  bool member_ended_ = true;  // between members, where the file may end
};

}  // namespace

std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> packed, const FrLimits& limits) {
  return std::make_unique<GzipSource>(std::move(packed), limits);
}

}  // namespace rankfault
