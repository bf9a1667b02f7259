// state_of_record: the state that the agent writes with the ENTER record of a call, as far as the record
// contains it.
#pragma once

#include "harness/agent/agent_abi.h"

namespace rankfault {

inline rf_state state_inside(const rf_record& r) {
  rf_state s{};
  s.since_ns = r.time_ns;
  s.seq = r.seq;
  s.return_address = r.where;
  s.count = r.count;
  s.call = r.call;
  s.comm = r.comm;
  s.peer = r.peer;
  s.tag = r.tag_or_result;
  s.recv_peer = RF_PEER_NONE;
  s.op = r.op;
  s.where = RF_INSIDE;
  s.library = r.library;
  s.dtype = r.dtype;
  s.reduce_op = r.reduce_op;
  s.flags = r.flags;
  return s;
}

// The same when only the record was kept. Only the state page has the mask of the members that owe bytes and
// the requests of a wait, so this state gives fewer needs than a live look, never more.
inline rf_state state_by_record_alone(const rf_record& r) {
  rf_state s = state_inside(r);
  if (s.flags & RF_CALL_MASK_VALID)
    s.flags = static_cast<uint16_t>((s.flags & ~RF_CALL_MASK_VALID) | RF_CALL_COUNT_UNKNOWN);
  if (rf_is_wait(s.op)) s.pending_count = ~0u;
  return s;
}

}  // namespace rankfault
