// ladder_output: prints a rank ladder for people and for machines.
#pragma once

#include <string>

#include "harness/session/ladder.h"

namespace rankfault {

std::string ladder_text(const LadderResult&);
Json to_json(const LadderResult&);

}  // namespace rankfault
