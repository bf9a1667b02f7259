// ProgramFile: finds the function and the source line of an address in one program or library file.
//
// It looks for debug information in the file itself and under /usr/lib/debug, never on the network. It reads
// only what a query needs. If the tables are too large for that, it does not read them: the result is then a
// function, or nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace rankfault {

struct FunctionPlace {
  std::string name;     // the linker's name; "" unknown
  uint64_t offset = 0;  // offset of the address from the function's begin
};

class ProgramFile {
 public:
  // Returns null if the path is no longer that very file, or not an ELF file.
  static std::unique_ptr<ProgramFile> open(const std::string& path, uint64_t inode);
  virtual ~ProgramFile() = default;

  // Returns the file's own address of a byte at this offset; all ones: it is not loaded.
  virtual uint64_t address_of(uint64_t file_offset) = 0;
  virtual FunctionPlace function(uint64_t address) = 0;
  virtual std::string line(uint64_t address) = 0;  // "step.cc:12", "" unknown
};

}  // namespace rankfault
