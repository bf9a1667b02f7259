/* rankfault/mark.h: marks that a trainer may make: steps, commits, values, errors, phases, batches.
 *
 * Header only, no library to link, no cost without the agent: each name is a weak symbol, null unless the
 * agent is preloaded. Usable from C99 and C++. Safe from any thread. */
#ifndef RANKFAULT_MARK_H
#define RANKFAULT_MARK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak)) void rankfault_step_begin_v1(int64_t step);
__attribute__((weak)) void rankfault_step_commit_v1(int64_t step);
__attribute__((weak)) void rankfault_mark_v1(const char* name, int64_t number);
__attribute__((weak)) void rankfault_value_v1(const char* name, int64_t step, uint64_t value);
__attribute__((weak)) void rankfault_error_v1(const char* kind, int64_t step);
__attribute__((weak)) void rankfault_phase_v1(const char* name);
__attribute__((weak)) int rankfault_batch_v1(int64_t number);
#ifdef __cplusplus
}
#endif

/* The step's work starts. */
static inline void rankfault_step_begin(int64_t step) {
  if (rankfault_step_begin_v1) rankfault_step_begin_v1(step);
}
/* The step's result is now kept: from here on the step counts as committed. */
static inline void rankfault_step_commit(int64_t step) {
  if (rankfault_step_commit_v1) rankfault_step_commit_v1(step);
}
/* A named place in the program, for triggers. */
static inline void rankfault_mark(const char* name, int64_t number) {
  if (rankfault_mark_v1) rankfault_mark_v1(name, number);
}
/* A value worth comparing between runs: a checksum, or the bits of a double. */
static inline void rankfault_value(const char* name, int64_t step, uint64_t value) {
  if (rankfault_value_v1) rankfault_value_v1(name, step, value);
}
/* The rank detected an error by itself; kind is one of timeout, mismatch, peer_lost, abort, other. */
static inline void rankfault_error(const char* kind, int64_t step) {
  if (rankfault_error_v1) rankfault_error_v1(kind, step);
}
/* A phase of the program begins: "train", "evaluate", "checkpoint" ... */
static inline void rankfault_phase(const char* name) {
  if (rankfault_phase_v1) rankfault_phase_v1(name);
}
/* A data loader calls this before it returns batch `number`: 1 continue, 0 the data ends here. */
static inline int rankfault_batch(int64_t number) {
  return rankfault_batch_v1 ? rankfault_batch_v1(number) : 1;
}

#endif /* RANKFAULT_MARK_H */
