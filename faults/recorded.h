// recorded: looks up one call of one communicator in the flight records.
#pragma once

#include <vector>

#include "harness/facts/run_facts.h"

namespace rankfault {

// A call as one process recorded it: the records of one (communicator, seq).
struct RecordedCall {
  const ProcessView* process = nullptr;
  const CommView* comm = nullptr;
  rf_record enter{};       // or the first record that carries the seq
  bool succeeded = false;  // an EXIT, ENQUEUE or COMPLETE with result 0
  bool failed = false;     // left by an error
  bool pending = false;    // enqueued, its completion not seen
};

// Calls of this communicator in the order of their seq, one entry for each seq, without executions and
// messages.
std::vector<RecordedCall> calls_on(const ProcessView&, uint64_t comm_id);
const RecordedCall* call_with_seq(const std::vector<RecordedCall>&, uint64_t seq);

// The processes of all other members, of the same attempt.
std::vector<const ProcessView*> peers_on(const RunFacts&, const ProcessView& but, uint64_t comm_id);
const CommView* comm_with_id(const ProcessView&, uint64_t comm_id);

}  // namespace rankfault
