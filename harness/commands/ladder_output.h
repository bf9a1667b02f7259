// ladder_output: a rank ladder as people and machines read it.
#pragma once

#include <string>

#include "harness/session/ladder.h"

namespace rankfault {

std::string ladder_text(const LadderResult&);
Json to_json(const LadderResult&);

}  // namespace rankfault
