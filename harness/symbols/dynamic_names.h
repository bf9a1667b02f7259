// dynamic_names: the names that a program file needs from the loader and the names that it defines, without
// running it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rankfault {

struct DynamicNames {
  std::vector<std::string> needed;  // "libcudart.so.12"
  std::set<std::string> wanted;     // functions and data that other files must define; no weak ones
  std::set<std::string> given;
  // Where the loader looks for `needed` before it looks in LD_LIBRARY_PATH (DT_RPATH).
  std::vector<std::string> searched_first;
};

// nullopt: it is not an ELF file, or has no dynamic section.
std::optional<DynamicNames> dynamic_names(const std::string& path);

// Whether the file contains these bytes anywhere.
bool file_has_text(const std::string& path, const std::string& text);

}  // namespace rankfault
