// cut_files: what a process reads of a file that it has mapped and that somebody made shorter: zeros, instead
// of the signal SIGBUS, which would end it.
//
// The ranks of a job may do as they like with the files of their run directory. Reading a mapping costs
// nothing more than before; who needs to know whether its file was cut compares pages_of_cut_files().
#pragma once

#include <cstdint>

namespace rankfault {

void survive_cut_files();       // from now on; more than once is as good as once
uint64_t pages_of_cut_files();  // read as zeros so far, by all mappings of this process

}  // namespace rankfault
