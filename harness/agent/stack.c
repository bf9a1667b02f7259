/* stack.c: clears what a step that runs before a call left on the program's stack. A library that reads a
 * variable before it sets it would find those values (docs/internals/agent.md). */
#include "harness/agent/agent.h"

#define USED 4096 /* by the steps that end with this, measured: 2.9 KiB */

/* A loop, not memset: a function that calls none leaves no return address. */
void rf_clean_stack(void) {
  uint64_t below[USED / sizeof(uint64_t)];
  for (unsigned i = 0; i < USED / sizeof(uint64_t); ++i) {
    below[i] = 0;
    __asm__ volatile("" : : "r"(below) : "memory"); /* keeps the compiler from removing the store */
  }
}
