// calls: finds the communication call of a thread from its stack, and selects the frames for users.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/evidence/call_names.h"
#include "harness/evidence/evidence.h"

namespace rankfault {

// Uses the Python frames, else the native ones.
StackCall call_of(const ThreadEvidence&);
// Returns the call of the main thread, else of any other thread that is in one.
StackCall call_of(const RankEvidence&);
// Returns the operations of all threads: with PyTorch the main thread waits for a worker.
std::set<std::string> ops_of(const RankEvidence&);

// Returns the frames outside all libraries, innermost first: the place in the program itself.
std::vector<std::string> own_frames(const ThreadEvidence&, size_t most);

// Returns lines for users: the call, the program's own frames, and what it waits for; then the evidence that
// was not available.
std::vector<std::string> short_evidence(const RankEvidence&);
// Why there are no Python frames, each reason once for all ranks.
std::set<std::string> notes_of(const std::vector<RankEvidence>&);

}  // namespace rankfault
