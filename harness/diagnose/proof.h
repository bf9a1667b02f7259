// proof: when a claim that a call cannot return success is proven: the assumptions, each its
// own function, and nowhere else.
//
// A rule hands over the edges it relies on (this open or failed call needs that member's part, which
// was not entered) and why each awaited member will never enter it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/view.h"

namespace rankfault {

struct WaitEdge {
  const CommGroup* group = nullptr;
  const Member* waiter = nullptr;
  const Call* call = nullptr;  // of the waiter, the one that is not complete; null: it made none there
  const Member* missing = nullptr;
  bool is_need = false;        // by the operation's data flow; else by_algorithm
  Known entered = Known::kNo;  // whether the missing member entered its part
  const Call* held = nullptr;  // the call a lane of the waiter sits in because of it; null: none is
  bool one_of = false;         // one of several that would do: a need only together with all of them
};

// Why an awaited process will never enter what is awaited.
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

// Places are compared by their number. Where calls differ, or may yet, a library may pair what stands at
// different places (same_calls.cc): every member that may still make calls has come, and all made the same,
// those that rings have lost (lost_calls.h) too.
Assumption same_calls_before(const std::vector<WaitEdge>&);

// The same of one place, where no member waits by need: whether all members made the same calls up to it, as
// far as they have come.
Assumption same_calls_up_to(const CommGroup&, uint64_t seq);

// One more for cycles of live processes: a thread that never issued on the communicator has no lane, and may
// yet come. A process of MPI without MPI_THREAD_MULTIPLE and without another thread rules it out; nothing
// else does.
Assumption no_new_issuer(const std::vector<End>&);

// In a cycle a call that gives up (a limit, a revoked communicator) lets its rank go on and free the others:
// named in the finding, does not weaken it.
Assumption nobody_gives_up(const std::vector<WaitEdge>&);

// Adds calls to those that the finding's claim is about, each once.
void claim(Finding&, const std::vector<std::pair<const Member*, const Call*>>&);

// Fills assumes, confidence, claim (cannot_return) and claimed of a finding.
void prove(Finding&, const std::vector<WaitEdge>&, const std::vector<End>&);
// What was proven does not prove what the finding says. It is inferred and claims nothing.
void only_infer(Finding&);

// Whether the member's count up to this place is the library's, too: no call of its own before it failed.
bool place_is_known(const Member&, const CommGroup&, uint64_t seq);
std::string why_not_known(const Member&, const CommGroup&);

// MPI was asked for one thread at a time, and the process had no other at the look than the library's own.
bool has_only_thread(const Process&);

// MPI_Finalize ends MPI's communicators; another library of the same process goes on.
bool finalized(const Process&, const CommGroup&);
// How final a process is with regard to one communicator, cycles apart.
End end_of(const Process&, const CommGroup&);

}  // namespace rankfault
