// fr_words: translates the words of a Flight Recorder dump into the terms of rankfault's records.
#pragma once

#include <string>

#include "harness/flight_recorder/dump.h"
#include "harness/observe/timeline.h"

namespace rankfault {

// "nccl:_all_gather_base" -> RF_OP_ALL_GATHER; RF_OP_NONE for a word that no known version writes.
uint16_t fr_op(const FrEntry&);
// The entry that ends a group of coalesced calls. Only this entry has the group's state; the others stay
// "scheduled".
bool fr_ends_a_group(const FrEntry&);
// For a send or receive, "nccl:send 0->1": the group rank of the peer; RF_PEER_NONE.
int fr_peer(const FrEntry&);
uint8_t fr_dtype(const FrEntry&);
uint64_t fr_count(const FrEntry&);  // elements of all its input tensors
// The recorder says that the call is done. Gloo's entries stay "scheduled" and are retired.
bool fr_done(const FrEntry&);
// "train.py:12": the innermost frame outside PyTorch; "" without frames.
std::string fr_call_site(const FrEntry&);

}  // namespace rankfault
