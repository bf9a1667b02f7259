// pickle_machine: see pickle_machine.h. Here: the step, and the values that are not containers.
#include "harness/flight_recorder/pickle_machine.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <limits>

#include "harness/flight_recorder/pickle_opcodes.h"
#include "harness/flight_recorder/text.h"

namespace rankfault {

PickleMachine::PickleMachine(ByteSource& source, const FrLimits& limits, const MemoUse& fetched,
                             DumpDecoder& decoder, bool quick)
    : window_(source, limits),
      limits_(limits),
      fetched_(fetched),
      decoder_(decoder),
      quick_(quick),
      arena_(limits.memory),
      memo_(fetched.count()),
      memo_set_(fetched.count()) {}

bool PickleMachine::fail(std::string what) {
  if (error_.empty()) error_ = fmt::format("byte {}: {}", at_, what);
  return false;
}

bool PickleMachine::fail(const Error& error) {
  error_ = error.message;
  return false;
}

// Inline: run() is its only caller, and the call between two steps takes much of a dump's time.
inline bool PickleMachine::step() {
  at_ = window_.offset();
  if (!window_.need(1)) return false;
  const auto code = static_cast<uint8_t>(*window_.data());
  window_.skip(1);
  uint64_t value = 0;
  switch (code) {
    case 'h':
      return fixed(1, value) && get(value);
    case 'q':
      return fixed(1, value) && put(value);
    case 'j':
    case 'g':
    case 'r':
    case 'p':
    case 0x94:
      return memo_op(code);
    case 'K':
      return fixed(1, value) && push_int(static_cast<int64_t>(value));
    case 'M':
      return fixed(2, value) && push_int(static_cast<int64_t>(value));
    case 'J':
      return fixed(4, value) && push_int(static_cast<int32_t>(value));
    case 'X':
    case 'T':
      return push_text(ValueKind::kText, 4);
    case 0x8c:
    case 'U':
      return push_text(ValueKind::kText, 1);
    case 0x8d:
      return push_text(ValueKind::kText, 8);
    case '(':
      if (marks_.size() >= limits_.nesting)
        return fail(fmt::format("more than {} open containers", limits_.nesting));
      marks_.push_back(stack_.size());
      return true;
    case 'u':
    case 'e':
    case 0x90: {
      size_t first = 0;
      return pop_mark(first) && add(first, code == 'u');
    }
    case 's':
    case 'a':
      return add_one(code == 's');
    case ']':
      return empty_list();
    case '}':
      return empty_dict();
    case 0x8f:
      return push_node(ValueKind::kSet);
    case ')':
      return push_node(ValueKind::kTuple);
    case 't':
      return from_mark(ValueKind::kTuple);
    case 'l':
      return from_mark(ValueKind::kList);
    case 'd':
      return from_mark(ValueKind::kDict);
    case 0x91:
      return from_mark(ValueKind::kSet);
    case 0x85:
    case 0x86:
    case 0x87:
      return tuple_of(code - 0x84u);
    case 'N':
      return push({});
    case 0x88:
    case 0x89: {
      FrValue v{ValueKind::kBool};
      v.integer = code == 0x88;
      return push(v);
    }
    case 0x8a:
      return push_long(1);
    case 0x8b:
      return push_long(4);
    case 'G':
      return push_float();
    case 'I':
    case 'L':
    case 'F':
    case 'S':
    case 'V':
      return push_line(code);
    case 'C':
      return push_text(ValueKind::kBytes, 1);
    case 'B':
      return push_text(ValueKind::kBytes, 4);
    case 0x8e:
    case 0x96:
      return push_text(ValueKind::kBytes, 8);
    case 0x80:
      return fixed(1, value);
    case 0x95:
      return fixed(8, value);
    case '.':
      if (stack_.size() != 1 || !marks_.empty()) return fail("STOP with an unfinished value");
      stopped_ = true;
      return false;
    default:  // the scan refused such opcodes, so the file changed meanwhile
      error_ = refused_opcode(code, at_);
      return false;
  }
}

Result<FrDump> PickleMachine::run() {
  while (step()) {
  }
  if (error_.empty() && !stopped_) error_ = window_.end_error().message;
  if (!error_.empty()) return refused(error_);
  return decoder_.finish(stack_.back(), stream_, window_.offset());
}

bool PickleMachine::may_grow() {
  if (stack_.size() * 2 * sizeof(FrValue) > limits_.memory) return fail("too many values at once");
  return true;
}

bool PickleMachine::push_int(int64_t value) {
  FrValue v{ValueKind::kInt};
  v.integer = value;
  return push(v);
}

bool PickleMachine::push_text(ValueKind kind, size_t length_bytes) {
  uint64_t length = 0;
  if (!fixed(length_bytes, length)) return false;
  if (length > limits_.text) return fail(fmt::format("a text of {} bytes; {} at most", length, limits_.text));
  if (!window_.need(length)) return false;
  const bool pushed = push_text(kind, std::string_view(window_.data(), length));
  window_.skip(length);
  return pushed;
}

bool PickleMachine::push_text(ValueKind kind, std::string_view text) {
  char* at = arena_.allocate(text.size());
  if (!at) return fail("too much text at once");
  std::memcpy(at, text.data(), text.size());
  FrValue v{kind, static_cast<uint32_t>(text.size())};
  v.chars = at;
  return push(v);
}

bool PickleMachine::push_long(size_t length_bytes) {
  uint64_t length = 0;
  if (!fixed(length_bytes, length)) return false;
  if (length > limits_.text) return fail(fmt::format("an integer of {} bytes", length));
  if (!window_.need(length)) return false;
  const char* bytes = window_.data();
  const bool negative = length > 0 && (static_cast<unsigned char>(bytes[length - 1]) & 0x80) != 0;
  bool fits = true;
  for (size_t i = 8; i < length; ++i)
    fits = fits && static_cast<unsigned char>(bytes[i]) == (negative ? 0xff : 0);
  uint64_t value = little_endian(bytes, length < 8 ? length : 8);
  if (negative && length < 8) value |= ~uint64_t{0} << (8 * length);
  if (length > 8 && (value >> 63 != 0) != negative) fits = false;
  FrValue v{fits ? ValueKind::kInt : ValueKind::kBigInt};
  v.integer = static_cast<int64_t>(value);
  window_.skip(length);
  return push(v);
}

bool PickleMachine::push_float() {
  if (!window_.need(8)) return false;
  uint64_t bits = 0;
  std::memcpy(&bits, window_.data(), 8);
  bits = __builtin_bswap64(bits);  // big-endian in every protocol
  window_.skip(8);
  FrValue v{ValueKind::kFloat};
  std::memcpy(&v.real, &bits, 8);
  return push(v);
}

bool PickleMachine::push_line(uint8_t code) {
  const bool is_text = code == 'S' || code == 'V';
  const int64_t length = line_length(window_, is_text ? limits_.text : kNumberLine);
  if (length < 0) return window_.available() > kNumberLine ? fail("a line without an end") : false;
  std::string_view line(window_.data(), static_cast<size_t>(length));
  bool pushed = false;
  if (is_text) {
    std::string text;
    pushed = (code == 'S' ? unquoted(line, text) : raw_unescaped(line, text))
                 ? push_text(ValueKind::kText, text)
                 : fail("an invalid string");
  } else if (code == 'F') {
    FrValue v{ValueKind::kFloat};
    const auto [stop, bad] = std::from_chars(line.data(), line.data() + line.size(), v.real);
    pushed = bad == std::errc() && stop == line.data() + line.size() ? push(v) : fail("an invalid float");
  } else {
    FrValue v{code == 'I' && (line == "00" || line == "01") ? ValueKind::kBool : ValueKind::kInt};
    if (code == 'L' && !line.empty() && line.back() == 'L') line.remove_suffix(1);
    const auto [stop, bad] = std::from_chars(line.data(), line.data() + line.size(), v.integer);
    if (bad == std::errc::result_out_of_range) v.kind = ValueKind::kBigInt;
    pushed = bad != std::errc::invalid_argument && stop == line.data() + line.size()
                 ? push(v)
                 : fail("an invalid integer");
  }
  window_.skip(static_cast<size_t>(length) + 1);
  return pushed;
}

}  // namespace rankfault
