// own_folders: what in the job's TMPDIR belongs to the tool, beside the job's own files.
#pragma once

#include <string>

namespace rankfault {

// A link to our libraries, used when their own path has a blank or a colon (plain_path.h).
inline constexpr const char* kLibraryLink = "rankfault-lib";
std::string cuda_folder_name(int attempt);    // where the ranks of an attempt meet over the double of CUDA
bool is_own_folder(const std::string& name);  // that of any attempt, a rendezvous store, or the link

}  // namespace rankfault
