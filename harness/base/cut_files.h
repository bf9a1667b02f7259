// cut_files: what this process reads of a file that it has mapped and that can no longer be read: zeros,
// instead of the signal SIGBUS, which would end it. Somebody made the file shorter, or its disk or server
// failed.
//
// The ranks of a job may do as they like with the files of their run directory. Reading a mapping costs
// nothing more than before; whoever must know whether it read zeros asks lost_page_in(). SIGBUS in a program
// or library of this process keeps its meaning: zeros there would be other code, or other constants.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankfault {

// From now on; the first call counts. The programs and libraries are those that are loaded then.
void survive_cut_files();
uint64_t pages_of_cut_files();  // read as zeros so far, by all mappings of this process
// Whether a page of this mapping was read as zeros since it was mapped. After more than some thousand such
// pages: true for every mapping.
bool lost_page_in(const void* mapping, size_t bytes);
void forget_lost_pages(const void* mapping, size_t bytes);  // call it before the mapping is removed

}  // namespace rankfault
