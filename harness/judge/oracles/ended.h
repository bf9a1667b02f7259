// ended: shared by `ended`, `finished` and `reference`: compares one rank's end with the expected one.
#pragma once

#include <optional>
#include <string>

#include "harness/judge/verdict.h"
#include "harness/facts/run_facts.h"

namespace rankfault {

struct RankAnswer {
  Verdict verdict = Verdict::kUnknown;
  std::string because;
};

std::optional<bool> ended_as(const ExitStatus&, const std::string& wanted);  // nullopt: status unknown
RankAnswer rank_ended_as(const RunFacts&, int rank, int attempt, const std::string& wanted);

}  // namespace rankfault
