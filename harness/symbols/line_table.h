// LineTable: source lines of one file's debug information, a compilation unit at a time.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rankfault {

class LineTable {
 public:
  explicit LineTable(Elf* elf);  // null: knows nothing. Outlived by the ELF file.
  ~LineTable();
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;

  // "step.cc:12": the file's own name without its folders, which depend on where it was built.
  std::string find(uint64_t address);

 private:
  struct UnitRange {
    uint64_t begin, end;
    Dwarf_Off unit;
  };
  bool unit_of(uint64_t address, Dwarf_Die* unit);
  void read_unit_ranges();

  Dwarf* dwarf_ = nullptr;
  bool index_is_small_ = true;  // .debug_aranges may be read whole
  bool ranges_read_ = false;
  std::vector<UnitRange> ranges_;  // by begin; where a compiler wrote no index
};

}  // namespace rankfault
