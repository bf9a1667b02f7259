/* tables.h: the tables that the build makes from the calls.def files: tables.c and trampolines.S. */
#ifndef RANKFAULT_AGENT_TABLES_H
#define RANKFAULT_AGENT_TABLES_H

#include <stdint.h>

#define RF_MAX_CALLS 8191u

/* trampolines.S has one block for each name: the resolver that the loader calls (exports.h), the trampoline
 * at this offset, and the stub for the first call. */
#define RF_TRAMPOLINE_BYTES 32
#if defined(__aarch64__)
#define RF_TRAMPOLINE_OFFSET 8
#else
#define RF_TRAMPOLINE_OFFSET 12
#endif

enum rf_class {
  RF_CLASS_COMMUNICATION,
  RF_CLASS_RMA,
  RF_CLASS_IO,
  RF_CLASS_OTHER,
  RF_CLASS_QUERY,
  RF_CLASS_FOLLOWER /* its call loads no decoder: it is wrapped once another name of its library has loaded it
                     */
};

struct rf_call_name {
  const char* symbol;
  uint8_t library;    /* rf_library */
  uint8_t call_class; /* rf_class */
  uint8_t profiling;  /* 1: the profiling name of the name before it: PMPI_Send after MPI_Send */
};
extern const struct rf_call_name rf_call_names[];
extern const uint32_t rf_call_count;
extern const char rf_trampolines[];      /* the first block */
extern void* rf_call_slots[];            /* the target of each trampoline */
int32_t rf_index_of(const char* symbol); /* -1: not in the table */

#endif /* RANKFAULT_AGENT_TABLES_H */
