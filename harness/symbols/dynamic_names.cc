#include "harness/symbols/dynamic_names.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <sstream>

#include "harness/symbols/elf_handle.h"

namespace rankfault {
namespace {

template <typename Entry, typename Get, typename See>
void for_each_entry(Elf_Scn* section, Get get, See see) {
  Elf_Data* data = elf_getdata(section, nullptr);
  Entry entry;
  for (int i = 0; data && get(data, i, &entry); ++i) see(entry);
}

void read_dynamic(Elf* elf, Elf_Scn* section, size_t names, DynamicNames& out) {
  std::string rpath;
  bool has_runpath = false;  // then the loader ignores DT_RPATH
  for_each_entry<GElf_Dyn>(section, gelf_getdyn, [&](const GElf_Dyn& entry) {
    has_runpath = has_runpath || entry.d_tag == DT_RUNPATH;
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH) return;
    const char* text = elf_strptr(elf, names, entry.d_un.d_val);
    if (text && entry.d_tag == DT_NEEDED) out.needed.emplace_back(text);
    if (text && entry.d_tag == DT_RPATH) rpath = text;
  });
  std::istringstream folders(has_runpath ? "" : rpath);
  for (std::string folder; std::getline(folders, folder, ':');) out.searched_first.push_back(folder);
}

// Replaces the loader's word for the folder of the file.
std::string expanded(std::string folder, const std::string& file) {
  const std::string own = std::filesystem::absolute(file).parent_path().string();
  for (const char* word : {"${ORIGIN}", "$ORIGIN"})
    for (size_t at; (at = folder.find(word)) != std::string::npos;)
      folder.replace(at, std::strlen(word), own);
  return folder;
}

void read_symbols(Elf* elf, Elf_Scn* section, size_t names, DynamicNames& out) {
  for_each_entry<GElf_Sym>(section, gelf_getsym, [&](const GElf_Sym& entry) {
    const char* name = elf_strptr(elf, names, entry.st_name);
    if (!name || !*name || GELF_ST_BIND(entry.st_info) == STB_LOCAL) return;
    if (entry.st_shndx != SHN_UNDEF)
      out.given.insert(name);
    else if (GELF_ST_BIND(entry.st_info) != STB_WEAK)
      out.wanted.insert(name);
  });
}

}  // namespace

std::optional<DynamicNames> dynamic_names(const std::string& path) {
  const auto file = ElfHandle::open(path);
  if (!file) return std::nullopt;
  std::optional<DynamicNames> out;
  for_each_section(file->elf(), [&](const std::string&, const GElf_Shdr& header, Elf_Scn* section) {
    if (header.sh_type != SHT_DYNAMIC && header.sh_type != SHT_DYNSYM) return;
    if (!out) out.emplace();
    const auto read = header.sh_type == SHT_DYNAMIC ? read_dynamic : read_symbols;
    read(file->elf(), section, header.sh_link, *out);
  });
  if (out)
    for (std::string& folder : out->searched_first) folder = expanded(folder, path);
  return out;
}

bool file_has_text(const std::string& path, const std::string& text) {
  const auto file = ElfHandle::open(path);
  struct stat st {};
  if (!file || ::fstat(file->fd(), &st) != 0 || st.st_size <= 0) return false;
  const auto size = static_cast<size_t>(st.st_size);
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->fd(), 0);
  if (bytes == MAP_FAILED) return false;
  const bool found = ::memmem(bytes, size, text.data(), text.size()) != nullptr;
  ::munmap(bytes, size);
  return found;
}

}  // namespace rankfault
