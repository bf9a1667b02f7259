// made: checks whether a process made any call of a kind. It reads the few shapes of the calls, because a
// pass over all calls adds milliseconds to a look.
#pragma once

#include <algorithm>

#include "harness/diagnose/model/view.h"

namespace rankfault {

inline bool made_op(const Process& p, uint16_t op) {
  return std::any_of(p.shapes.begin(), p.shapes.end(), [&](const CallShape& s) { return s.op == op; });
}

// Usage: made_calls_of(process, &LibraryTraits::is_of_files).
inline bool made_calls_of(const Process& p, bool LibraryTraits::*trait) {
  return std::any_of(p.shapes.begin(), p.shapes.end(),
                     [&](const CallShape& s) { return traits_of(s.library).*trait; });
}

}  // namespace rankfault
