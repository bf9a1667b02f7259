#include "harness/flight_recorder/pickle_opcodes.h"

#include <fmt/format.h>

namespace rankfault {
namespace {

constexpr const char* kImports = "it would import a name";
constexpr const char* kCalls = "it would call a function or make an object";
constexpr const char* kPersistent = "it would ask the program for an object from outside";
constexpr const char* kExtension = "it would import a name from a table of the program";
constexpr const char* kRebuilds = "it discards values; only data with recursive tuples needs it";
constexpr const char* kOutside = "its bytes are not in the file";

constexpr std::array<Opcode, 256> make_table() {
  using A = OpcodeArgument;
  std::array<Opcode, 256> t{};
  t['('] = {"MARK"};
  t['.'] = {"STOP"};
  t['0'] = {"POP", A::kNone, kRebuilds};
  t['1'] = {"POP_MARK", A::kNone, kRebuilds};
  t['2'] = {"DUP", A::kNone, kRebuilds};
  t['F'] = {"FLOAT", A::kLine};
  t['I'] = {"INT", A::kLine};
  t['J'] = {"BININT", A::kFour};
  t['K'] = {"BININT1", A::kOne};
  t['L'] = {"LONG", A::kLine};
  t['M'] = {"BININT2", A::kTwo};
  t['N'] = {"NONE"};
  t['P'] = {"PERSID", A::kLine, kPersistent};
  t['Q'] = {"BINPERSID", A::kNone, kPersistent};
  t['R'] = {"REDUCE", A::kNone, kCalls};
  t['S'] = {"STRING", A::kTextLine};
  t['T'] = {"BINSTRING", A::kLength4};
  t['U'] = {"SHORT_BINSTRING", A::kLength1};
  t['V'] = {"UNICODE", A::kTextLine};
  t['X'] = {"BINUNICODE", A::kLength4};
  t['a'] = {"APPEND"};
  t['b'] = {"BUILD", A::kNone, kCalls};
  t['c'] = {"GLOBAL", A::kNone, kImports};
  t['d'] = {"DICT"};
  t['}'] = {"EMPTY_DICT"};
  t['e'] = {"APPENDS"};
  t['g'] = {"GET", A::kLine};
  t['h'] = {"BINGET", A::kOne};
  t['i'] = {"INST", A::kNone, kImports};
  t['j'] = {"LONG_BINGET", A::kFour};
  t['l'] = {"LIST"};
  t[']'] = {"EMPTY_LIST"};
  t['o'] = {"OBJ", A::kNone, kCalls};
  t['p'] = {"PUT", A::kLine};
  t['q'] = {"BINPUT", A::kOne};
  t['r'] = {"LONG_BINPUT", A::kFour};
  t['s'] = {"SETITEM"};
  t['t'] = {"TUPLE"};
  t[')'] = {"EMPTY_TUPLE"};
  t['u'] = {"SETITEMS"};
  t['G'] = {"BINFLOAT", A::kEight};
  t['B'] = {"BINBYTES", A::kLength4};
  t['C'] = {"SHORT_BINBYTES", A::kLength1};
  t[0x80] = {"PROTO", A::kOne};
  t[0x81] = {"NEWOBJ", A::kNone, kCalls};
  t[0x82] = {"EXT1", A::kNone, kExtension};
  t[0x83] = {"EXT2", A::kNone, kExtension};
  t[0x84] = {"EXT4", A::kNone, kExtension};
  t[0x85] = {"TUPLE1"};
  t[0x86] = {"TUPLE2"};
  t[0x87] = {"TUPLE3"};
  t[0x88] = {"NEWTRUE"};
  t[0x89] = {"NEWFALSE"};
  t[0x8a] = {"LONG1", A::kLength1};
  t[0x8b] = {"LONG4", A::kLength4};
  t[0x8c] = {"SHORT_BINUNICODE", A::kLength1};
  t[0x8d] = {"BINUNICODE8", A::kLength8};
  t[0x8e] = {"BINBYTES8", A::kLength8};
  t[0x8f] = {"EMPTY_SET"};
  t[0x90] = {"ADDITEMS"};
  t[0x91] = {"FROZENSET"};
  t[0x92] = {"NEWOBJ_EX", A::kNone, kCalls};
  t[0x93] = {"STACK_GLOBAL", A::kNone, kImports};
  t[0x94] = {"MEMOIZE"};
  t[0x95] = {"FRAME", A::kEight};
  t[0x96] = {"BYTEARRAY8", A::kLength8};
  t[0x97] = {"NEXT_BUFFER", A::kNone, kOutside};
  t[0x98] = {"READONLY_BUFFER", A::kNone, kOutside};
  return t;
}

}  // namespace

const std::array<Opcode, 256> kOpcodes = make_table();

std::string refused_opcode(uint8_t code, uint64_t offset) {
  const Opcode& op = kOpcodes[code];
  if (!op.name) return fmt::format("byte {}: 0x{:02x} is not a pickle opcode", offset, code);
  return fmt::format("byte {}: {} (0x{:02x}) is refused: {}; a dump holds plain data only", offset, op.name,
                     code, op.refused ? op.refused : "not expected here");
}

}  // namespace rankfault
