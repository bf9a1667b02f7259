// LineTable: the source lines in one file's debug information, read one compilation unit at a time.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rankfault {

class LineTable {
 public:
  explicit LineTable(Elf* elf);  // null: it finds nothing. The ELF file must outlive the table.
  ~LineTable();
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;

  // "step.cc:12": the file name without its folders, which depend on the build machine.
  std::string find(uint64_t address);

 private:
  struct UnitRange {
    uint64_t begin, end;
    Dwarf_Off unit;
  };
  bool unit_of(uint64_t address, Dwarf_Die* unit);
  void read_unit_ranges();

  Dwarf* dwarf_ = nullptr;
  bool index_is_small_ = true;  // .debug_aranges may be read completely
  bool ranges_read_ = false;
  std::vector<UnitRange> ranges_;  // by begin; for units without an index
};

}  // namespace rankfault
