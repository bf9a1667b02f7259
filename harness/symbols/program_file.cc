#include "harness/symbols/program_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "harness/symbols/elf_handle.h"
#include "harness/symbols/line_table.h"

namespace rankfault {
namespace {

constexpr size_t kMostSymbols = 4'000'000;

struct Symbol {
  uint64_t begin = 0, size = 0;
  size_t name = 0;
};

// The functions of one symbol table, by address. Read once, at the first query.
class SymbolTable {
 public:
  void read(Elf* elf, GElf_Word wanted) {
    for_each_section(elf, [&](const std::string&, const GElf_Shdr& header, Elf_Scn* section) {
      if (header.sh_type != wanted || header.sh_entsize == 0 || !symbols_.empty()) return;
      const size_t count = header.sh_size / header.sh_entsize;
      Elf_Data* data = count <= kMostSymbols ? elf_getdata(section, nullptr) : nullptr;
      if (data) take(elf, data, count, header.sh_link);
    });
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  }
  bool empty() const { return symbols_.empty(); }

  FunctionPlace find(uint64_t address) const {
    auto at = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                               [](uint64_t a, const Symbol& s) { return a < s.begin; });
    // Of several names for one address it takes the shortest, then the first by name, so that the result is
    // stable.
    std::optional<FunctionPlace> best;
    while (at != symbols_.begin()) {
      const Symbol& s = *--at;
      if (best && address - s.begin != best->offset) break;
      if (s.size == 0) continue;  // a label: its size is unknown
      if (address >= s.begin + s.size) break;
      const char* text = elf_strptr(elf_, strings_, s.name);
      const std::string name = text ? text : "";
      if (!best || std::pair(name.size(), name) < std::pair(best->name.size(), best->name))
        best = FunctionPlace{name, address - s.begin};
    }
    return best.value_or(FunctionPlace{});
  }

 private:
  void take(Elf* elf, Elf_Data* data, size_t count, size_t strings) {
    elf_ = elf;
    strings_ = strings;
    for (size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, static_cast<int>(i), &symbol) || symbol.st_shndx == SHN_UNDEF) continue;
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC || type == STT_GNU_IFUNC)
        symbols_.push_back({symbol.st_value, symbol.st_size, symbol.st_name});
    }
  }
  Elf* elf_ = nullptr;
  size_t strings_ = 0;
  std::vector<Symbol> symbols_;
};

class ElfProgram final : public ProgramFile {
 public:
  ElfProgram(std::unique_ptr<ElfHandle> main, std::string path)
      : main_(std::move(main)), path_(std::move(path)) {}

  uint64_t address_of(uint64_t file_offset) override {
    size_t count = 0;
    if (elf_getphdrnum(main_->elf(), &count) != 0) return ~uint64_t{0};
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (!gelf_getphdr(main_->elf(), static_cast<int>(i), &header) || header.p_type != PT_LOAD) continue;
      if (file_offset >= header.p_offset && file_offset < header.p_offset + header.p_filesz)
        return file_offset - header.p_offset + header.p_vaddr;
    }
    return ~uint64_t{0};
  }

  FunctionPlace function(uint64_t address) override {
    if (!symbols_) {
      symbols_.emplace();
      symbols_->read(main_->elf(), SHT_SYMTAB);
      if (symbols_->empty() && debug()) symbols_->read(debug()->elf(), SHT_SYMTAB);
      if (symbols_->empty()) symbols_->read(main_->elf(), SHT_DYNSYM);
    }
    return symbols_->find(address);
  }

  std::string line(uint64_t address) override {
    if (!lines_) {
      const ElfHandle* from = main_->has_section(".debug_line") ? main_.get() : debug();
      lines_ = std::make_unique<LineTable>(from ? from->elf() : nullptr);
    }
    return lines_->find(address);
  }

 private:
  const ElfHandle* debug() {
    if (!looked_for_debug_) debug_ = separate_debug_file(*main_, path_);
    looked_for_debug_ = true;
    return debug_.get();
  }

  std::unique_ptr<ElfHandle> main_, debug_;  // before the tables, which point into them
  std::string path_;
  bool looked_for_debug_ = false;
  std::optional<SymbolTable> symbols_;
  std::unique_ptr<LineTable> lines_;
};

}  // namespace

std::unique_ptr<ProgramFile> ProgramFile::open(const std::string& path, uint64_t inode) {
  std::unique_ptr<ElfHandle> main = ElfHandle::open(path);
  struct stat st {};
  if (!main || ::fstat(main->fd(), &st) != 0) return nullptr;
  // The device is not compared, because overlays print another device in maps than stat returns.
  if (st.st_ino != inode) return nullptr;
  return std::make_unique<ElfProgram>(std::move(main), path);
}

}  // namespace rankfault
