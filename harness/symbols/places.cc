#include "harness/symbols/places.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

#include "harness/base/printable.h"

namespace rankfault {
namespace {

constexpr size_t kLongName = 120;

// Returns the begin of the parameter list at the end of the name, or npos.
size_t parameters_of(const std::string& name) {
  const size_t close = name.rfind(')');
  if (close == std::string::npos) return close;
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return std::string::npos;
}

// Returns the position after the return type, which only names of templates have.
size_t behind_return_type(const std::string& name) {
  size_t from = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 8, "operator") == 0) break;
    if (name[i] == '<' || name[i] == '(' || name[i] == '{') ++depth;
    if (name[i] == '>' || name[i] == ')' || name[i] == '}') --depth;
    if (name[i] == ' ' && depth == 0) from = i + 1;
  }
  return from;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string readable_function(const std::string& symbol) {
  int status = 0;
  char* plain = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && plain ? plain : symbol;
  std::free(plain);
  if (status == 0) {
    name = name.substr(0, parameters_of(name));
    name = name.substr(behind_return_type(name));
  }
  if (name.size() > kLongName) name = name.substr(0, kLongName) + "...";
  return printable(name);
}

std::string CodePlace::in_module() const { return fmt::format("{}+0x{:x}", module, offset); }

std::string CodePlace::source() const {
  if (!line.empty()) return line;
  return function.empty() ? "" : fmt::format("{}+0x{:x}", function, function_offset);
}

std::string CodePlace::text() const {
  const std::string known = source();
  return known.empty() ? in_module() : known;
}

ProgramFile* Places::file(const Mapping& mapping) {
  const auto [at, fresh] = files_.try_emplace({mapping.device, mapping.inode}, nullptr);
  if (fresh && mapping.path[0] == '/') at->second = ProgramFile::open(mapping.path, mapping.inode);
  return at->second.get();
}

CodePlace Places::at(const Mapping& mapping, uint64_t address, bool is_return_address) {
  CodePlace place;
  place.module = printable(base_name(mapping.path));
  place.offset = address - mapping.begin + mapping.offset;
  ProgramFile* program = file(mapping);
  if (!program) return place;
  const uint64_t back = is_return_address ? 1 : 0;
  const uint64_t inside = program->address_of(place.offset - back);
  if (inside == ~uint64_t{0}) return place;
  const FunctionPlace function = program->function(inside);
  if (!function.name.empty()) {
    place.function = readable_function(function.name);
    place.function_offset = function.offset + back;
  }
  place.line = printable(program->line(inside));
  return place;
}

}  // namespace rankfault
