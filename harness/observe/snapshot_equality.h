// snapshot_equality: whether two readings of a process agree in every word that a proof may use.
#pragma once

#include "harness/observe/timeline.h"

namespace rankfault {

bool same_words(const ProcessView&, const ProcessView&);

}  // namespace rankfault
