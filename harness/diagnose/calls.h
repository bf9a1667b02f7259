// calls: puts the calls of one process together from its records and its lanes' states.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

std::vector<Call> calls_of(const ProcessView&);

}  // namespace rankfault
