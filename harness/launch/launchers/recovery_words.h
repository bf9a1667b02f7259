// recovery_words: the words that make an mpirun leave its other ranks alone when one ended badly.
#pragma once

#include <string>
#include <vector>

namespace rankfault {

bool leaves_other_ranks_alone(const std::vector<std::string>& launcher_args);

}  // namespace rankfault
