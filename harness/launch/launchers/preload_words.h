// preload_words: the LD_PRELOAD that a user gives to the ranks by the words of an mpirun.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rankfault {

// Takes "-x LD_PRELOAD=VALUE" (Open MPI) and "-genv LD_PRELOAD VALUE" or "-env LD_PRELOAD VALUE" (hydra) out
// of the words and returns the value, the last one if there are several; nullopt: there is none. Also takes
// out "-x LD_PRELOAD", which passes the inherited value.
std::optional<std::string> take_preload(std::vector<std::string>& words);

}  // namespace rankfault
