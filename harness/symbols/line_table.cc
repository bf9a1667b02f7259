#include "harness/symbols/line_table.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/symbols/elf_handle.h"

namespace rankfault {
namespace {

// The limits of one query, in bytes and units: the debug information of the largest programs has gigabytes,
// and a diagnosis does not wait for it. The limits are sizes, not times, so that the same file gives the same
// answer.
constexpr uint64_t kMostIndex = 64u << 20;
constexpr uint64_t kMostCompressed = 64u << 20;
constexpr size_t kMostUnits = 20'000;

}  // namespace

LineTable::LineTable(Elf* elf) {
  if (!elf) return;
  uint64_t compressed = 0, index = 0;
  for_each_section(elf, [&](const std::string& name, const GElf_Shdr& header, Elf_Scn*) {
    if (name.rfind(".debug_", 0) != 0) return;
    if (header.sh_flags & SHF_COMPRESSED) compressed += header.sh_size;  // unpacked completely at the opening
    if (name == ".debug_aranges") index = header.sh_size;
  });
  if (compressed > kMostCompressed) return;
  index_is_small_ = index <= kMostIndex;
  dwarf_ = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
}

LineTable::~LineTable() {
  if (dwarf_) dwarf_end(dwarf_);
}

// For units without an entry in .debug_aranges, which clang does not write.
void LineTable::read_unit_ranges() {
  ranges_read_ = true;
  Dwarf_Off at = 0, next = 0;
  size_t header_size = 0;
  for (size_t units = 0; units < kMostUnits; ++units, at = next) {
    if (dwarf_nextcu(dwarf_, at, &next, &header_size, nullptr, nullptr, nullptr) != 0) break;
    Dwarf_Die unit;
    if (!dwarf_offdie(dwarf_, at + header_size, &unit)) continue;
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t range = 0; (range = dwarf_ranges(&unit, range, &base, &begin, &end)) > 0;)
      ranges_.push_back({begin, end, at + header_size});
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const UnitRange& a, const UnitRange& b) { return a.begin < b.begin; });
}

bool LineTable::unit_of(uint64_t address, Dwarf_Die* unit) {
  Dwarf_Aranges* index = nullptr;
  size_t count = 0;
  if (!index_is_small_) return false;
  if (dwarf_getaranges(dwarf_, &index, &count) == 0 && index) {
    Dwarf_Off offset = 0;
    if (Dwarf_Arange* range = dwarf_getarange_addr(index, address))
      if (dwarf_getarangeinfo(range, nullptr, nullptr, &offset) == 0)
        return dwarf_offdie(dwarf_, offset, unit) != nullptr;
  }
  if (!ranges_read_) read_unit_ranges();
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](uint64_t a, const UnitRange& r) { return a < r.begin; });
  if (after == ranges_.begin() || address >= std::prev(after)->end) return false;
  return dwarf_offdie(dwarf_, std::prev(after)->unit, unit) != nullptr;
}

std::string LineTable::find(uint64_t address) {
  Dwarf_Die unit;
  if (!dwarf_ || !unit_of(address, &unit)) return "";
  Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
  int number = 0;
  const char* file = line ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
  if (!file || dwarf_lineno(line, &number) != 0 || number == 0) return "";
  const char* slash = std::strrchr(file, '/');
  return fmt::format("{}:{}", slash ? slash + 1 : file, number);
}

}  // namespace rankfault
