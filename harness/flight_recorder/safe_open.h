// safe_open: opens regular files and nothing else: a fifo would block, a device may act, a link may lead
// anywhere.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

// For reading. A link the user named is followed. "a fifo", "a folder" ... is the error for what is no file.
Result<UniqueFd> open_file(const std::string& path);
Result<UniqueFd> open_folder(const std::string& path);
// A file of the folder; links are followed as long as they stay in it. Kernels before 5.6 follow none.
Result<UniqueFd> open_file_in(int folder, const std::string& name);

}  // namespace rankfault
