/* absent.c: what stands for a function that no loaded library has: as it would be without us, the
 * loader's error. "Is the library initialised?" gets an answer, since programs ask that through
 * weak references, and what NCCL lacks is refused. */
#include <stdio.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

static const char* missing; /* the last one asked for: the call follows at once */

static int says_no(int* flag) {
  if (flag) *flag = 0;
  return 0;
}

static void stops(void) {
  char text[512];
  const int n =
      snprintf(text, sizeof(text), "rankfault agent: symbol lookup error: undefined symbol: %s\n", missing);
  rf_sys_write(2, text, n < (int)sizeof(text) ? (uint64_t)n : sizeof(text) - 1);
  rf_note_exit(RF_EXIT_UNDERSCORE, 127);
  rf_sys_exit(127);
}

/* A program may have asked the loader for a name of a newer NCCL and got ours, which stands first: to be told
 * that this NCCL cannot do it is what it can live with. */
static int refuses(void) {
  static const char* said;
  char text[512];
  if (said != missing) {
    const int n =
        snprintf(text, sizeof(text),
                 "rankfault agent: the NCCL of this process does not have %s: ncclInvalidUsage is returned\n",
                 missing);
    rf_sys_write(2, text, n < (int)sizeof(text) ? (uint64_t)n : sizeof(text) - 1);
    said = missing;
  }
  return 5;
}

static int ends_with(const char* text, const char* end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

void* rf_absent(const char* symbol) {
  static const char* const questions[] = {"Initialized", "Finalized",  "initialized_",
                                          "finalized_",  "GetVersion", NULL};
  for (int i = 0; questions[i]; ++i)
    if (ends_with(symbol, questions[i])) return (void*)says_no; /* NOLINT */
  __atomic_store_n(&missing, symbol, __ATOMIC_RELEASE);
  const int is_nccl = strncmp(symbol, "nccl", 4) == 0 && !ends_with(symbol, "String") &&
                      !ends_with(symbol, "LastError") && rf_resolve_next("ncclGetVersion");
  return is_nccl ? (void*)refuses : (void*)stops; /* NOLINT */
}
