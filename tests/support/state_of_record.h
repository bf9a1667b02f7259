// state_of_record: the state the agent writes with the ENTER record of a call, as far as the record tells it.
#pragma once

#include "harness/agent/agent_abi.h"

namespace rankfault::testing {

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

}  // namespace rankfault::testing
