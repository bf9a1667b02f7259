// ProgramFile: one program or library file: the function and the source line of an address in it.
//
// Debug information is looked for in the file itself and under /usr/lib/debug, never on the network.
// Only what is asked for is read, and a file whose tables are too large for that is left alone: then
// there is a function, or nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace rankfault {

struct FunctionPlace {
  std::string name;     // as the linker knows it; "" unknown
  uint64_t offset = 0;  // of the address, from its begin
};

class ProgramFile {
 public:
  // Null when this path is not that very file any more, or no ELF file.
  static std::unique_ptr<ProgramFile> open(const std::string& path, uint64_t inode);
  virtual ~ProgramFile() = default;

  // The address, as the file counts, of a byte at this place in it; all ones: it is not loaded.
  virtual uint64_t address_of(uint64_t file_offset) = 0;
  virtual FunctionPlace function(uint64_t address) = 0;
  virtual std::string line(uint64_t address) = 0;  // "step.cc:12", "" unknown
};

}  // namespace rankfault
