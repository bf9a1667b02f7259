// evidence: what oracles ask of RunFacts: which ranks are meant, when a fault took effect, how a
// rank ended, which calls were open when.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "harness/judge/oracle.h"

namespace rankfault {

ExpectationResult answer(const ExpectationSpec&, Verdict, std::string because,
                         std::vector<uint64_t> lines = {});

// "rank 3", "ranks 0 1 2"
std::string say_ranks(const std::vector<int>& ranks);

// Numbers of the journal lines with this `ev` for which `want` holds.
template <typename Want>
std::vector<uint64_t> lines_where(const RunFacts& facts, const std::string& ev, Want want) {
  std::vector<uint64_t> out;
  for (const Json& line : facts.journal)
    if (line.value("ev", "") == ev && want(line)) out.push_back(line.value("n", uint64_t{0}));
  return out;
}

// ---- faults ------------------------------------------------------------------------------------

EffectReport effect_of(const FaultSpec&, const RunFacts&);
std::vector<int> victims_of(const RunFacts&, const std::string& fault);  // "" : of all faults
// False in a run with faults of which none has bitten: nothing that only a fault can cause can be
// asked of it. True where there is none.
bool something_bit(const RunFacts&);

// From when on a deadline counts: the named fault's effect; without a name the first one's; in a run
// without faults the begin of the run.
struct Since {
  TimeNs at = 0;
  TimeNs begin = 0;                    // not later: nothing before it can be of the fault's making
  std::string what;                    // "after skip"
  Verdict otherwise = Verdict::kPass;  // not kPass: it cannot be asked, `what` says why
  std::vector<uint64_t> lines;
};
Since since(const ExpectationSpec&, const char* key, const RunFacts&);

// ---- ranks -------------------------------------------------------------------------------------

// The ranks a parameter names (absent: `otherwise`); none: the answer is unknown, and `why` says so.
struct Chosen {
  std::vector<int> ranks;
  std::string why;
};
Chosen chosen_ranks(const ExpectationSpec&, const char* key, const RunFacts&, const char* otherwise = "all");

int last_attempt(const RunFacts&);
// How the rank's process ended by itself (before we took anything down); null: it did not.
const RankEnd* end_of(const RunFacts&, int rank, int attempt);
const RankEnd* end_of(const RunFacts&, const ProcessId&);
std::vector<uint64_t> end_lines(const RunFacts&, int rank, int attempt);
std::string end_text(const RankEnd*);

// ---- calls -------------------------------------------------------------------------------------

struct CallSpan {  // one call of a communication library on one lane
  uint32_t lane = 0;
  uint16_t op = 0;
  uint32_t comm = RF_NO_COMM;
  TimeNs enter = 0;               // 0: overwritten before it was read
  TimeNs leave = 0;               // 0: still inside
  uint8_t phase = RF_PHASE_NONE;  // how it was left
  int32_t result = 0;
  uint8_t library = RF_LIB_NONE;
};
// What the user wrote; with executions also what a library's own threads do for it, where a call returns
// at once and its work blocks one of them (c10d on Gloo).
std::vector<CallSpan> call_spans(const ProcessView&, bool with_executions = false);
// No record of this process older than this survives on some lane; 0: all survive.
TimeNs records_begin(const ProcessView&);
// What the records do not hold did not happen; and so of marks alone, which are kept for longer.
bool whole_record(const ProcessView&);
bool whole_marks(const ProcessView&);
// Those that took part: a wrapper or a helper that only bears the rank's number saw nothing of what it did.
std::vector<const ProcessView*> processes_of(const RunFacts&, int rank);

// ---- time --------------------------------------------------------------------------------------

// What was allowed from `from` on came only at `came`, and the host may be why: it served our own timers
// late, meanwhile, by more than a tenth of what was allowed, and by more than a tenth of the delay. A
// deadline missed then proves nothing. Empty: it is not; else the lines that say so.
std::vector<uint64_t> starved_meanwhile(const RunFacts&, TimeNs from, Duration allowed, TimeNs came);
std::string span_text(TimeNs from, TimeNs to);

}  // namespace rankfault
