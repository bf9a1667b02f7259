#include "harness/flight_recorder/pickle_writer.h"

#include <cstdint>
#include <cstring>
#include <limits>

#include "harness/flight_recorder/text.h"

namespace rankfault {

PickleWriter::PickleWriter() : out_("\x80\x02", 2) {}

void PickleWriter::fixed(uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
}

void PickleWriter::integer(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  if (value >= 0 && value <= 0xff) {
    out_ += 'K';
    fixed(bits, 1);
  } else if (value >= 0 && value <= 0xffff) {
    out_ += 'M';
    fixed(bits, 2);
  } else if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    out_ += 'J';
    fixed(bits, 4);
  } else {
    out_ += "\x8a\x08";
    fixed(bits, 8);
  }
}

void PickleWriter::real(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  out_ += 'G';
  fixed(__builtin_bswap64(bits), 8);
}

void PickleWriter::text(std::string_view value) {
  std::string clean;
  append_clean(value, clean);
  const auto [at, is_new] = texts_.try_emplace(clean, memo_);
  if (!is_new) return get(at->second);
  out_ += 'X';
  fixed(clean.size(), 4);
  out_ += clean;
  put();
}

bool PickleWriter::again(const void* object) {
  const auto at = objects_.find(object);
  if (at == objects_.end()) return false;
  get(at->second);
  return true;
}

void PickleWriter::remember(const void* object) {
  objects_[object] = memo_;
  put();
}

void PickleWriter::put() {
  out_ += memo_ <= 0xff ? 'q' : 'r';
  fixed(memo_, memo_ <= 0xff ? 1 : 4);
  ++memo_;
}

void PickleWriter::get(uint32_t id) {
  out_ += id <= 0xff ? 'h' : 'j';
  fixed(id, id <= 0xff ? 1 : 4);
}

std::string PickleWriter::finish() && {
  out_ += '.';
  return std::move(out_);
}

}  // namespace rankfault
