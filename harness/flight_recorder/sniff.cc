#include "harness/flight_recorder/sniff.h"

#include <array>
#include <string_view>

namespace rankfault {

constexpr size_t kLook = 64;

Result<Sniffed> sniff(ByteSource& source) {
  std::array<char, kLook> bytes{};
  size_t have = 0;
  while (have < bytes.size()) {
    const Result<size_t> count = source.read(bytes.data() + have, bytes.size() - have);
    if (!count) return count.error();
    if (*count == 0) break;
    have += *count;
  }
  if (const Status back = source.rewind(); !back) return back.error();
  std::string_view start(bytes.data(), have);
  if (start.empty()) return Sniffed::kEmpty;
  // A pickle begins with the opcode PROTO from protocol 2 on, else with the outermost dict.
  if (start[0] == '\x80' || start.starts_with("(d") || start.starts_with("}q") || start.starts_with("}("))
    return Sniffed::kPickle;
  if (start.starts_with("\xef\xbb\xbf")) start.remove_prefix(3);
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  return start.starts_with('{') ? Sniffed::kJson : Sniffed::kOther;
}

}  // namespace rankfault
