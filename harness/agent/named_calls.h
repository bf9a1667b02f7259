/* named_calls.h: calls that are recorded only by their names (named_calls.def), for harness and agent. */
#ifndef RANKFAULT_AGENT_NAMED_CALLS_H
#define RANKFAULT_AGENT_NAMED_CALLS_H

#include "harness/agent/agent_abi.h"

enum rf_named_call {
#define RF_NAMED_CALL(id, text, op, all) RF_NAMED_##id,
#include "named_calls.def"
#undef RF_NAMED_CALL
  RF_NAMED_COUNT
};

static inline int rf_is_named(uint16_t op) { return op >= RF_OP_IO && op <= RF_OP_STORE; }

#endif /* RANKFAULT_AGENT_NAMED_CALLS_H */
