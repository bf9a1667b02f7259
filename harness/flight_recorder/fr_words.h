// fr_words: the words of a Flight Recorder dump in the terms of our records.
#pragma once

#include <string>

#include "harness/flight_recorder/dump.h"
#include "harness/observe/timeline.h"

namespace rankfault {

// "nccl:_all_gather_base" -> RF_OP_ALL_GATHER; RF_OP_NONE for a word no known version writes.
uint16_t fr_op(const FrEntry&);
// The entry that ends a group of coalesced calls: it alone has the group's state, the others stay
// "scheduled".
bool fr_ends_a_group(const FrEntry&);
// Of a send or receive, "nccl:send 0->1": the rank in the group on the other side; RF_PEER_NONE.
int fr_peer(const FrEntry&);
uint8_t fr_dtype(const FrEntry&);
uint64_t fr_count(const FrEntry&);  // elements of all its input tensors
// Done by the recorder's own word. Gloo's entries stay "scheduled" and are retired.
bool fr_done(const FrEntry&);
// "train.py:12": the innermost frame that is not PyTorch's own; "" without frames.
std::string fr_call_site(const FrEntry&);

}  // namespace rankfault
