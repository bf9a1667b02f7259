// preload_words: the LD_PRELOAD that a user gives to the ranks by the words of an mpirun.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rankfault {

// Takes "-x LD_PRELOAD=VALUE" (Open MPI) and "-genv LD_PRELOAD VALUE" or "-env LD_PRELOAD VALUE" (hydra) out
// of the words and returns the value, the last one where there are several; nullopt: there is none. "-x
// LD_PRELOAD" is taken out too: it gives the value that is inherited.
std::optional<std::string> take_preload(std::vector<std::string>& words);

}  // namespace rankfault
