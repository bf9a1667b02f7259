// oracle_queries: what oracles read from RunFacts: which ranks are meant, when a fault took effect, how a
// rank ended, which calls were open when.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "harness/base/rank_words.h"
#include "harness/judge/oracle.h"
#include "harness/observe/call_history.h"

namespace rankfault {

ExpectationResult answer(const ExpectationSpec&, Verdict, std::string because,
                         std::vector<uint64_t> lines = {});

// The numbers of all journal lines of the kind E.
template <typename E>
std::vector<uint64_t> all_numbers(const RunFacts& facts) {
  return numbers_of(lines_of<E>(facts.journal));
}

// ---- faults ------------------------------------------------------------------------------------

EffectReport effect_of(const FaultSpec&, const RunFacts&);
std::vector<int> victims_of(const RunFacts&, const std::string& fault);  // "" : of all faults
// False in a run whose faults all had no effect: it says nothing about what only a fault can cause. True in a
// run without faults.
bool something_bit(const RunFacts&);

// The time from which a deadline counts: the named fault's effect; without a name, the first fault's effect;
// in a run without faults, the begin of the run.
struct DeadlineStart {
  Instant at;
  Instant begin;                       // not later than `at`: nothing before it can be caused by the fault
  std::string what;                    // "after skip"
  Verdict otherwise = Verdict::kPass;  // not kPass: this time does not exist; `what` says why
  std::vector<uint64_t> lines;
};
DeadlineStart deadline_start(const ExpectationSpec&, const char* key, const RunFacts&);

// ---- ranks -------------------------------------------------------------------------------------

// The ranks that a parameter names (`otherwise` when it is absent). If there are none, the answer is unknown,
// and `why` says so.
struct ChosenRanks {
  std::vector<int> ranks;
  std::string why;
};
ChosenRanks chosen_ranks(const ExpectationSpec&, const char* key, const RunFacts&,
                         const char* otherwise = "all");

int last_attempt(const RunFacts&);
// How the rank's process ended by itself (before rankfault ended anything); null: it did not.
const RankEnd* end_of(const RunFacts&, int rank, int attempt);
const RankEnd* end_of(const RunFacts&, const ProcessId&);
std::vector<uint64_t> end_lines(const RunFacts&, int rank, int attempt);
std::string end_text(const RankEnd*);

// ---- calls -------------------------------------------------------------------------------------

// The calls of communication libraries that user code made, in the order of their entries. `with_executions`
// adds the work that a library's own threads do for them, when a call returns at once and its work blocks
// such a thread (c10d on Gloo).
std::vector<const RecordedCall*> communication_calls(const CallHistory&, bool with_executions = false);
// On some lane, no record of this process older than this survives; not known: all survive.
Instant records_begin(const ProcessView&);
// True: what the records do not hold did not happen. whole_marks() says it of marks only, which are kept
// longer.
bool whole_record(const ProcessView&);
bool whole_marks(const ProcessView&);
// The rank's processes that took part. A wrapper or helper that only has the rank's number recorded none of
// the rank's actions.
std::vector<const ProcessView*> processes_of(const RunFacts&, int rank);

// ---- time --------------------------------------------------------------------------------------

// For an event that was due within `allowed` after `from` but came only at `came`. Returns the journal lines
// that show that the host may be the cause, because it served rankfault's own timers late meanwhile: by more
// than a tenth of `allowed` and more than a tenth of the delay. A deadline missed then proves nothing. Empty:
// the host is not the cause.
std::vector<uint64_t> starved_meanwhile(const RunFacts&, Instant from, Duration allowed, Instant came);
std::string span_text(Instant from, Instant to);

}  // namespace rankfault
