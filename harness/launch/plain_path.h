// plain_path: a name without blanks and colons for our libraries. The loader splits LD_PRELOAD at blanks and
// colons, and LD_LIBRARY_PATH at colons and semicolons; neither allows quoting.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace rankfault {

bool is_plain_path(const std::string& path);

// `folder` itself when its path is plain, else a link to it in `tmp`, which is made when absent.
Result<std::string> plain_folder(const std::string& folder, const std::string& tmp);

}  // namespace rankfault
