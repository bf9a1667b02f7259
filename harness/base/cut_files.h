// cut_files: makes unreadable pages of mapped files read as zeros. Without it such a read raises SIGBUS,
// which would end this process. A page becomes unreadable if another process shortens the file, or if its
// disk or server fails.
//
// The ranks of a job may change the files of their run directory at any time. Reading a mapping costs no more
// than before; lost_page_in() says whether a read returned zeros. SIGBUS in a program or library of this
// process keeps its meaning: zeros there would be different code or constants.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankfault {

// Takes effect at once; only the first call counts. It exempts the programs and libraries that are loaded at
// that time.
void survive_cut_files();
uint64_t pages_of_cut_files();  // pages read as zeros so far, in all mappings of this process
// Whether a page of this mapping was read as zeros since it was mapped. After some thousands of such pages:
// true for every mapping.
bool lost_page_in(const void* mapping, size_t bytes);
void forget_lost_pages(const void* mapping, size_t bytes);  // call it before the mapping is removed

}  // namespace rankfault
