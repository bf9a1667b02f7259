#include "harness/launch/plain_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "harness/launch/own_folders.h"

namespace rankfault {

bool is_plain_path(const std::string& path) { return path.find_first_of(" \t\n:;") == std::string::npos; }

Result<std::string> plain_folder(const std::string& folder, const std::string& tmp) {
  if (is_plain_path(folder)) return folder;
  const std::string link = tmp + "/" + kLibraryLink;
  if (!is_plain_path(link))
    return usage_error(fmt::format(
        "{} and {} both have a blank, a colon or a semicolon in their path, at which the loader splits "
        "LD_PRELOAD: the agent cannot be loaded",
        folder, tmp));
  if (::symlink(folder.c_str(), link.c_str()) != 0 && errno != EEXIST) return errno_error("symlink " + link);
  return link;
}

}  // namespace rankfault
