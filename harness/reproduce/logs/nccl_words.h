// nccl_words: what one warning of NCCL means.
#pragma once

#include <string_view>

#include "harness/reproduce/logs/clue.h"

namespace rankfault {

// Sets the kind and the fields of the clue from the text behind "NCCL WARN ".
void say_nccl_warning(Clue& clue, std::string_view message);

}  // namespace rankfault
