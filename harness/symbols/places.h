// Places: converts an address of a process to a place for users: source line, else function, else module.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "harness/symbols/memory_map.h"
#include "harness/symbols/program_file.h"

namespace rankfault {

struct CodePlace {
  std::string module;    // base name of the file
  uint64_t offset = 0;   // in the file
  std::string function;  // readable, without its parameters; "" unknown
  uint64_t function_offset = 0;
  std::string line;  // "step.cc:12", "" unknown

  std::string in_module() const;  // "trainer+0x1050b": equal in all processes with this file
  std::string source() const;     // "step.cc:12", else "step_all+0x12", else ""
  std::string text() const;       // source(), else in_module()
};

// One object for all processes: each file is opened once, at the first address in it.
class Places {
 public:
  // A return address belongs to the line of its call, which ends one byte before it.
  CodePlace at(const Mapping&, uint64_t address, bool is_return_address);

 private:
  ProgramFile* file(const Mapping&);
  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<ProgramFile>> files_;  // by device and inode
};

// "gloo::allreduce" for "void gloo::allreduce(gloo::AllreduceOptions const&)"; C names stay unchanged.
std::string readable_function(const std::string& symbol);

}  // namespace rankfault
