/* core_table.h: what the core offers to rankfault's own preloaded modules (librankfault_libc.so). A module
 * refers weakly to one exported symbol; without the core it passes every call through. */
#ifndef RANKFAULT_AGENT_CORE_TABLE_H
#define RANKFAULT_AGENT_CORE_TABLE_H

#include "harness/agent/core.h"

#define RF_CORE_TABLE_VERSION 1u

struct rf_core_table_v1 {
  uint32_t version;
  uint32_t bytes;
  const struct rf_core_v1* core;
  /* Whether the core wants this file operation. Cheap if not; errno is kept. */
  int (*file_wanted)(uint16_t op, const char* path);
  /* The edges of a libc point. FAIL: fail_code is the errno to set. A point may be inside a library's call,
   * which then stays the lane's state. `result` of the end is 0 or the errno. */
  enum rf_verdict (*file_begin)(struct rf_call*);
  void (*file_end)(struct rf_call*, int result);
};

#ifndef RF_CORE_TABLE_DEFINED_HERE
extern const struct rf_core_table_v1 rankfault_core_table_v1 __attribute__((weak));
#endif

#endif /* RANKFAULT_AGENT_CORE_TABLE_H */
