// calls: which communication call a thread is in by its stack, and the frames of it that a person wants.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/evidence/call_names.h"
#include "harness/evidence/evidence.h"

namespace rankfault {

// By its Python frames, else by its native ones.
StackCall call_of(const ThreadEvidence&);
// Of the main thread, else of any other one that is in a call.
StackCall call_of(const RankEvidence&);
// All that its threads are in: with PyTorch the main thread waits for what a worker does.
std::set<std::string> ops_of(const RankEvidence&);

// The frames outside of all libraries, the innermost first: where the program itself stands.
std::vector<std::string> own_frames(const ThreadEvidence&, size_t most);

// Lines for people: the call, the program's own frames, what it waits for; then what was not to be had.
std::vector<std::string> short_evidence(const RankEvidence&);

}  // namespace rankfault
