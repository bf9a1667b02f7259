// pickle_opcodes: the opcodes of the pickle language, their arguments, and why some are refused.
// Source: the opcode list of Python's pickletools, protocols 0 to 5.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace rankfault {

// The argument of an opcode: none, bytes, a line, or a length and that many bytes.
enum class OpcodeArgument : uint8_t {
  kNone,
  kOne,
  kTwo,
  kFour,
  kEight,
  kLine,
  kTextLine,
  kLength1,
  kLength4,
  kLength8
};

struct Opcode {
  const char* name = nullptr;  // null: not an opcode of any protocol
  OpcodeArgument argument = OpcodeArgument::kNone;
  const char* refused = nullptr;  // why; null: plain data needs it
};

extern const std::array<Opcode, 256> kOpcodes;

// "GLOBAL (0x63) at byte 17: it would import a name; a dump holds plain data only"
std::string refused_opcode(uint8_t code, uint64_t offset);

}  // namespace rankfault
