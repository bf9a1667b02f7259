// ended_by_launcher: ranks that their launcher ended because another rank had ended badly. They are its
// victims: what others needed of them is not what went wrong.
#pragma once

#include "harness/diagnose/view.h"

namespace rankfault {

// The rank that ended first, where this one was ended after it by a signal that launchers send; null: this
// one ended by itself, or before any other, or its launcher leaves the others alone. Of two that signals
// ended within 5 ms nobody knows which one was first: null for both.
const Process* ended_by_launcher(const JobView&, const Process&);

}  // namespace rankfault
