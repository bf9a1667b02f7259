#include "harness/flight_recorder/pickle_scan.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "harness/flight_recorder/pickle_opcodes.h"

namespace rankfault {
namespace {

constexpr uint8_t kHighestProtocol = 5;
// Picklers number memo slots from 0 or 1, one for each PUT. A pickler does not write a number that is larger
// by this much.
constexpr uint64_t kMemoSlack = 1024;

class Scanner {
 public:
  Scanner(ByteSource& source, const FrLimits& limits) : window_(source, limits), limits_(limits) {}

  Result<PickleScan> run() {
    do quick();
    while (step());
    if (error_.empty() && !stopped_) error_ = window_.end_error().message;
    if (!error_.empty()) return refused(error_);
    result_.end = window_.offset();
    result_.trailing = window_.need(1);
    result_.fetched.finish();
    return std::move(result_);
  }

 private:
  bool fail(const std::string& what) {
    error_ = fmt::format("byte {}: {}", at_, what);
    return false;
  }

  // Scans the opcodes that dumps consist of, as far as they are in the window. It leaves all others to
  // step().
  void quick() {
    constexpr ptrdiff_t kLongest = 10;  // opcode and argument of LONG1 with 8 bytes
    const char* p = window_.data();
    const char* const end = p + window_.available();
    for (bool known = true; known && end - p >= kLongest;) {
      switch (static_cast<uint8_t>(*p)) {
        case 'h': {
          const auto id = static_cast<uint8_t>(p[1]);
          known = id < top_ && (result_.fetched.contains(id) || result_.fetched.insert(id, limits_.memory));
          p += known ? 2 : 0;
          break;
        }
        case 'j': {
          const uint64_t id = little_endian(p + 1, 4);
          known = id < top_ && (result_.fetched.contains(id) || result_.fetched.insert(id, limits_.memory));
          p += known ? 5 : 0;
          break;
        }
        case 'q':
        case 'r': {
          const size_t bytes = *p == 'q' ? 1 : 4;
          known = may_put(little_endian(p + 1, bytes));
          p += known ? 1 + bytes : 0;
          break;
        }
        case 'K':
          p += 2;
          break;
        case 'M':
          p += 3;
          break;
        case 'J':
          p += 5;
          break;
        case '(':
        case '}':
        case ']':
        case 'e':
        case 'u':
        case 'a':
        case 's':
        case 'N':
        case 0x85:
        case 0x86:
        case 0x87:
        case 0x88:
        case 0x89:
          ++p;
          break;
        case 0x94:
          known = may_put(puts_);
          p += known ? 1 : 0;
          break;
        case 0x8a:
          known = p[1] == 8;
          p += known ? 10 : 0;
          break;
        case 0x8c: {
          const ptrdiff_t length = static_cast<uint8_t>(p[1]);
          known = end - p >= length + 2;
          p += known ? length + 2 : 0;
          break;
        }
        case 'X': {
          const uint64_t length = little_endian(p + 1, 4);
          known = length <= limits_.text && length + 5 <= static_cast<uint64_t>(end - p);
          p += known ? length + 5 : 0;
          break;
        }
        default:
          known = false;
      }
    }
    window_.skip(static_cast<size_t>(p - window_.data()));
  }

  bool step() {
    at_ = window_.offset();
    if (!window_.need(1)) return false;
    const auto code = static_cast<uint8_t>(*window_.data());
    const Opcode& op = kOpcodes[code];
    if (!op.name || op.refused) {
      error_ = refused_opcode(code, at_);
      return false;
    }
    window_.skip(1);
    switch (op.argument) {
      case OpcodeArgument::kNone:
        if (code == '.') stopped_ = true;
        return !stopped_ && (code != 0x94 || put(puts_));
      case OpcodeArgument::kOne:
        return fixed(code, 1);
      case OpcodeArgument::kTwo:
        return fixed(code, 2);
      case OpcodeArgument::kFour:
        return fixed(code, 4);
      case OpcodeArgument::kEight:
        return fixed(code, 8);
      case OpcodeArgument::kLine:
        return line(code, kNumberLine);
      case OpcodeArgument::kTextLine:
        return line(code, limits_.text);
      case OpcodeArgument::kLength1:
        return counted(op, 1);
      case OpcodeArgument::kLength4:
        return counted(op, 4);
      case OpcodeArgument::kLength8:
        return counted(op, 8);
    }
    return false;
  }

  bool fixed(uint8_t code, size_t bytes) {
    if (!window_.need(bytes)) return false;
    const uint64_t value = little_endian(window_.data(), bytes);
    window_.skip(bytes);
    if (code == 'h' || code == 'j') return get(value);
    if (code == 'q' || code == 'r') return put(value);
    if (code == 0x80 && value > kHighestProtocol)
      return fail(fmt::format("pickle protocol {} is unknown; {} is the latest", value, kHighestProtocol));
    if (code == 0x95 && value > limits_.bytes)
      return fail(fmt::format("FRAME of {} bytes; {} at most", value, limits_.bytes));
    return true;
  }

  bool line(uint8_t code, size_t most) {
    const int64_t length = line_length(window_, most);
    if (length < 0)
      return window_.available() > most ? fail(fmt::format("a line of more than {} bytes", most)) : false;
    if (code == 'g' || code == 'p') {
      uint64_t id = 0;
      const char* end = window_.data() + length;
      const auto [stop, bad] = std::from_chars(window_.data(), end, id);
      if (bad != std::errc() || stop != end) return fail("an invalid memo number");
      if (!(code == 'g' ? get(id) : put(id))) return false;
    }
    window_.skip(static_cast<size_t>(length) + 1);
    return true;
  }

  bool counted(const Opcode& op, size_t bytes) {
    if (!window_.need(bytes)) return false;
    const uint64_t length = little_endian(window_.data(), bytes);
    window_.skip(bytes);
    if (length > limits_.text)
      return fail(fmt::format("{} of {} bytes; {} at most", op.name, length, limits_.text));
    return window_.skip_long(length);
  }

  bool may_put(uint64_t id) {
    if (id > puts_ + kMemoSlack) return false;
    ++puts_;
    if (id >= top_) top_ = id + 1;
    return true;
  }
  bool put(uint64_t id) {
    return may_put(id) || fail(fmt::format("memo slot {} is too high after {} uses", id, puts_));
  }

  bool get(uint64_t id) {
    if (id >= top_) return fail(fmt::format("memo slot {} is read before it is written", id));
    if (!result_.fetched.contains(id) && !result_.fetched.insert(id, limits_.memory))
      return fail("the memo needs too much memory");
    return true;
  }

  ByteWindow window_;
  const FrLimits& limits_;
  PickleScan result_;
  std::string error_;
  uint64_t at_ = 0, puts_ = 0, top_ = 0;
  bool stopped_ = false;
};

}  // namespace

bool MemoUse::insert(uint64_t id, size_t limit_bytes) {
  const uint64_t word = id / 64;
  if (word >= bits_.size()) {
    if (word >= limit_bytes / (2 * sizeof bits_[0])) return false;
    bits_.resize(word + 1);
  }
  bits_[word] |= uint64_t{1} << (id % 64);
  return true;
}

void MemoUse::finish() {
  before_.resize(bits_.size());
  count_ = 0;
  for (size_t i = 0; i < bits_.size(); ++i) {
    before_[i] = static_cast<uint32_t>(count_);
    count_ += static_cast<size_t>(__builtin_popcountll(bits_[i]));
  }
  std::vector<uint32_t> low(kLow);
  for (size_t id = 0; id < kLow; ++id) low[id] = contains(id) ? static_cast<uint32_t>(index(id) + 1) : 0;
  low_ = std::move(low);
}

int64_t line_length(ByteWindow& window, size_t most) {
  size_t looked = 0;
  while (looked <= most) {
    if (!window.need(looked + 1)) return -1;
    const void* end = std::memchr(window.data() + looked, '\n', window.available() - looked);
    if (end) {
      const auto length = static_cast<size_t>(static_cast<const char*>(end) - window.data());
      return length <= most ? static_cast<int64_t>(length) : -1;
    }
    looked = window.available();
  }
  return -1;
}

Result<PickleScan> scan_pickle(ByteSource& source, const FrLimits& limits) {
  if (const Status start = source.rewind(); !start) return start.error();
  return Scanner(source, limits).run();
}

}  // namespace rankfault
