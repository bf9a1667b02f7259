// error_file: torchrun's record of the exception of a rank.
//
// torchrun names a file to each rank in TORCHELASTIC_ERROR_FILE, and @record of torch.distributed.elastic
// writes the exception of the rank's program to it: {"message": {"extraInfo": {"py_callstack": "Traceback
// ..."}}} (torch/distributed/elastic/multiprocessing/errors/error_handler.py). The file is there even when
// the output of the rank is not in a file.
#pragma once

#include <string>

namespace rankfault {

inline constexpr const char* kErrorFileVariable = "TORCHELASTIC_ERROR_FILE";

// The text of the traceback in this file, secrets masked; "" if there is none.
std::string traceback_in(const std::string& error_file);

}  // namespace rankfault
