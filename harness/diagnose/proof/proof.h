// proof: decides when the claim that a call cannot return success is proven. Each assumption is its own
// function, and no other file decides this.
//
// A rule passes the edges that it relies on (this open or failed call needs that member's part, which was not
// entered) and, for each awaited member, why it will never enter its part.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"

namespace rankfault {

struct WaitEdge {
  const CommGroup* group = nullptr;
  const Member* waiter = nullptr;
  const Call* call = nullptr;  // the waiter's incomplete call; null: it made none there
  const Member* missing = nullptr;
  bool is_need = false;        // by the operation's data flow; else only by the library's algorithm
  Known entered = Known::kNo;  // whether the missing member entered its part
  const Call* held = nullptr;  // the call that a lane of the waiter is in because of it; null: none
  bool one_of = false;  // one of several parts that would be enough: a need only together with all of them
};

// Why an awaited process will never enter the awaited part.
struct End {
  const Process* process = nullptr;
  const CommGroup* group = nullptr;
  enum class Why { kDead, kFinalized, kDestroyed, kInCycle, kNotFinal } why = Why::kNotFinal;
};

Assumption every_edge_is_a_need(const std::vector<WaitEdge>&);
Assumption ends_are_final(const std::vector<End>&);
Assumption issuers_closed(const std::vector<WaitEdge>&, const std::vector<End>&);
Assumption full_view(const std::vector<WaitEdge>&);
Assumption one_look(const std::vector<WaitEdge>&, const std::vector<End>&);

// Places are compared by their number. If calls differ, or may still differ, a library may pair calls at
// different places (same_calls.cc). The assumption holds if every member that may still make calls has come,
// and all made the same calls, including those that rings have lost (lost_calls.h).
Assumption same_calls_before(const std::vector<WaitEdge>&);

// The same for one place at which no member waits by need: whether all members made the same calls up to it,
// as far as they have come.
Assumption same_calls_up_to(const CommGroup&, uint64_t seq);

// An additional assumption for cycles of live processes. A thread that never made a call on the communicator
// has no lane and may still come. Only an MPI process without MPI_THREAD_MULTIPLE and without another thread
// excludes this.
Assumption no_new_issuer(const std::vector<End>&);

// A call in a cycle that gives up (a limit, a revoked communicator) lets its rank continue and release the
// others. The finding names this assumption; it does not weaken the finding.
Assumption nobody_gives_up(const std::vector<WaitEdge>&);

// Adds calls to those that the finding's claim is about, each call once.
void claim(Finding&, const std::vector<std::pair<const Member*, const Call*>>&);

// Fills assumes, confidence, claim (cannot_return) and claimed of a finding.
void prove(Finding&, const std::vector<WaitEdge>&, const std::vector<End>&);
// Makes the finding inferred and removes its claim: the proven facts do not prove what the finding says.
void only_infer(Finding&);

// Whether the member's own count up to this place equals the library's: none of its calls failed before.
bool place_is_known(const Member&, const CommGroup&, uint64_t seq);
std::string why_not_known(const Member&, const CommGroup&);

// Whether the program asked MPI for one thread at a time, and the process had no threads at the look except
// the library's own.
bool has_only_thread(const Process&);

// MPI_Finalize ends the communicators of MPI; another library of the same process continues.
bool finalized(const Process&, const CommGroup&);
// Returns how final the state of a process is for one communicator, ignoring cycles.
End end_of(const Process&, const CommGroup&);

}  // namespace rankfault
