// elf_handle: an ELF file opened for reading, with its descriptor, and common queries about it.
#pragma once

#include <gelf.h>

#include <memory>
#include <string>

#include "harness/base/unique_fd.h"

namespace rankfault {

class ElfHandle {
 public:
  // Returns null if the file cannot be read as ELF. Never blocks on a file that is not regular.
  static std::unique_ptr<ElfHandle> open(const std::string& path);
  ~ElfHandle() { elf_end(elf_); }
  ElfHandle(const ElfHandle&) = delete;
  ElfHandle& operator=(const ElfHandle&) = delete;

  Elf* elf() const { return elf_; }
  int fd() const { return fd_.get(); }
  std::string build_id() const;  // its bytes; "": none
  bool has_section(const char* name) const;

 private:
  ElfHandle(UniqueFd fd, Elf* elf) : fd_(std::move(fd)), elf_(elf) {}
  UniqueFd fd_;
  Elf* elf_;
};

// Returns the file under /usr/lib/debug that has the debug information of this one, identified by its build
// id; null: there is none. Never uses the network.
std::unique_ptr<ElfHandle> separate_debug_file(const ElfHandle&, const std::string& path);

// Calls see(name, header, section) for each section.
template <typename See>
void for_each_section(Elf* elf, See see) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    see(std::string(name ? name : ""), header, section);
  }
}

}  // namespace rankfault
