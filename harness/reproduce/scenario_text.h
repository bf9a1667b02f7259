// scenario_text: the scenario file of a replay, with comments, ready to commit beside the fix.
#pragma once

#include <optional>
#include <string>

#include "harness/reproduce/replay.h"

namespace rankfault {

// The library that performs the program.
enum class ReplayOver { kC10d, kC10dNccl, kMpi, kGloo, kNccl };
const char* to_text(ReplayOver);  // "c10d", "c10d-nccl", "mpi", "gloo", "nccl": the words of --over
std::optional<ReplayOver> replay_over_of(const std::string& word);

struct ScenarioForm {
  std::string name = "reproduced";
  ReplayOver over = ReplayOver::kC10d;
  std::string evidence_digest;
  std::string expected_kind;  // of the finding about the small job; "": that of the case
};

struct Written {  // a scenario
  Case small;     // as it is written: with scaled counts
  Replay replay;
  ScenarioForm form;
  std::string text;
};

std::string scenario_text(const Case&, const Replay&, const ScenarioForm&);

}  // namespace rankfault
