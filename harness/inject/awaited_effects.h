// awaited_effects: effects of acts that are seen some time later: a process that stops, goes on or ends.
#pragma once

#include "harness/inject/act_context.h"

namespace rankfault {

// Each journals a `fault_effect` at the tick that sees the effect.
void await_stop(const ActContext&);      // of the victim, for 2 s
void await_continue(const ActContext&);  // of the victim, for 2 s
// The end of `process` by the action's signal. `whose` is a helper or launcher. When it still lives after
// `until`, the line says so.
void await_end(const ActContext&, const ProcessId& process, const char* whose, Instant until);

inline constexpr Duration kAwaitedFor = 2s;

}  // namespace rankfault
