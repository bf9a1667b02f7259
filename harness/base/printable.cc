#include "harness/base/printable.h"

namespace rankfault {

std::string printable(const char* text, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes;) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : 9;
    bool good = (more != 0 || c >= 0x20) && c != 0x7f && more != 9 && i + more < bytes;
    for (size_t k = 1; good && k <= more; ++k)
      good = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (good && c == 0xe0) good = static_cast<unsigned char>(text[i + 1]) >= 0xa0;
    if (good && c == 0xed) good = static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (good)
      out.append(text + i, more + 1);
    else
      out += '?';
    i += good ? more + 1 : 1;
  }
  return out;
}

}  // namespace rankfault
