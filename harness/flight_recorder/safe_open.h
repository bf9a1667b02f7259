// safe_open: opens regular files and nothing else: a fifo would block, a device may act, a link may lead
// anywhere.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

// For reading. Follows a link that the user named. The error for anything but a file names it: "a fifo", "a
// folder" ...
Result<UniqueFd> open_file(const std::string& path);
Result<UniqueFd> open_folder(const std::string& path);
// A file of the folder; follows links that stay in the folder. On kernels before 5.6 it follows no link.
Result<UniqueFd> open_file_in(int folder, const std::string& name);

}  // namespace rankfault
