#include "reports/html/packed.h"

namespace rankfault::html {

void Packed::put(uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
  bytes_ += static_cast<char>(number);
}

void Packed::put_signed(int64_t number) {
  put((static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63));
}

std::string Packed::base64() const { return base64_of(bytes_); }

std::string base64_of(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace rankfault::html
