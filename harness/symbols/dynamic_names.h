// dynamic_names: what a program file asks of the loader, and what it gives, without running it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rankfault {

struct DynamicNames {
  std::vector<std::string> needed;  // "libcudart.so.12"
  std::set<std::string> wanted;     // functions and data that others must give
  std::set<std::string> given;
};

// nullopt: it is no ELF file, or has nothing dynamic.
std::optional<DynamicNames> dynamic_names(const std::string& path);

// Whether these bytes stand anywhere in the file.
bool file_has_text(const std::string& path, const std::string& text);

}  // namespace rankfault
