#include "harness/symbols/elf_handle.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

namespace rankfault {

std::unique_ptr<ElfHandle> ElfHandle::open(const std::string& path) {
  static const unsigned version = elf_version(EV_CURRENT);
  if (version == EV_NONE) return nullptr;
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat st {};
  if (!fd.valid() || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return nullptr;
  Elf* elf = elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr);
  if (!elf) return nullptr;
  if (elf_kind(elf) != ELF_K_ELF) {
    elf_end(elf);
    return nullptr;
  }
  return std::unique_ptr<ElfHandle>(new ElfHandle(std::move(fd), elf));
}

std::string ElfHandle::build_id() const {
  const void* bytes = nullptr;
  const ssize_t n = dwelf_elf_gnu_build_id(elf_, &bytes);
  return n > 0 ? std::string(static_cast<const char*>(bytes), static_cast<size_t>(n)) : "";
}

bool ElfHandle::has_section(const char* wanted) const {
  bool found = false;
  for_each_section(elf_, [&](const std::string& name, const GElf_Shdr& header, Elf_Scn*) {
    found = found || (name == wanted && header.sh_type != SHT_NOBITS);
  });
  return found;
}

std::unique_ptr<ElfHandle> separate_debug_file(const ElfHandle& of, const std::string& path) {
  const std::string id = of.build_id();
  if (id.size() < 2) return nullptr;  // without it, no file can be matched
  std::string hex;
  for (const char c : id) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  const std::string root = "/usr/lib/debug";
  std::vector<std::string> candidates;
  candidates.push_back(fmt::format("{}/.build-id/{}/{}.debug", root, hex.substr(0, 2), hex.substr(2)));
  GElf_Word checksum = 0;
  if (const char* name = dwelf_elf_gnu_debuglink(of.elf(), &checksum)) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    candidates.push_back(fmt::format("{}/{}", folder, name));
    candidates.push_back(fmt::format("{}/.debug/{}", folder, name));
    candidates.push_back(fmt::format("{}{}/{}", root, folder, name));
  }
  for (const std::string& candidate : candidates)
    if (auto debug = ElfHandle::open(candidate); debug && debug->build_id() == id) return debug;
  return nullptr;
}

}  // namespace rankfault
