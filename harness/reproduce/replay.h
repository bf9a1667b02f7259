// replay: a folded case -> the programs that its ranks perform when the job is healthy, and the divergence
// that makes them hang as the evidence says.
//
// Two forms of divergence: a fault of the catalogue at one call of one rank (a call left out, a rank killed,
// stopped or late), or other lines of the program on some ranks (another argument, another order, one call
// more), which a scenario switches on as its `bug`.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/reproduce/case.h"

namespace rankfault {

using RankProgram = std::vector<CaseCall>;

struct ReplayDivergence {
  std::string fault =
      {};  // kind in the fault catalogue; "": the lines of `diverging` replace those of `healthy`
  std::vector<int> ranks = {};  // the victims
  size_t place = 0;             // the fault acts before this call of the victim's healthy program
  int signal = 0, code = -1;    // of rank_kill and rank_exit
  std::string stands_for = {};  // of lines that differ
};

struct Replay {
  std::vector<CaseGroup> groups = {};
  std::vector<RankProgram> healthy = {};  // by rank: all ranks finish
  std::vector<RankProgram>
      diverging;  // by rank: as recorded; equal to `healthy` where a fault makes the divergence
  std::vector<ReplayDivergence> divergences = {};
  std::vector<std::string> notes = {};  // what was added to the recorded calls, and why

  bool by_lines() const { return divergences.front().fault.empty(); }  // else by a fault
};

// Errors: why no small job can have this state ("every member is in the call").
Result<Replay> replay_of(const Case&);

// The operation that the replay performs for this one: those with counts for each rank are performed as the
// plain ones.
std::string plain_op(const std::string& op);

// The text that the programs of workloads/replay perform.
std::string program_text(const Replay&);

}  // namespace rankfault
