// Verdict: pass < unknown < fail; void is unknown because a fault had no effect.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault {

enum class Verdict { kPass, kVoid, kUnknown, kFail };

struct ExpectationResult {
  std::string id;  // "blamed"
  std::string oracle;
  Verdict verdict = Verdict::kUnknown;
  std::string because;            // one sentence, with numbers
  std::vector<uint64_t> journal;  // the lines that decide it
};

struct FaultResult {
  std::string id, kind;
  bool fired = false;
  bool verified = false;
  std::string how;
  double parked_ms = 0;
};

struct Judgement {
  Verdict verdict = Verdict::kUnknown;
  bool as_it_must_be = false;  // the outcome
  bool not_started = false;    // the launcher failed before any rank of the job was recorded
  std::vector<ExpectationResult> expectations;
  std::vector<FaultResult> faults;
  std::string summary;
};

const char* to_text(Verdict);
std::string summary_of(const Judgement&);  // the worst result, in one line

}  // namespace rankfault
