/* exits.c: a process records its own exit status when it ends by itself in any way. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

#define EXPORTED __attribute__((visibility("default")))

/* A vfork child shares our memory and a forked child our code: neither may write its end into our record. */
void rf_note_exit(uint32_t how, int status) {
  if (!rf_is_recording() || rf_head->pid != rf_sys_pid()) return;
  rf_head->own_exit_status = status & 0xff;
  rf_head->own_exit_ns = rf_now();
  RF_STORE(&rf_head->own_exit, how);
}

static void at_exit_with(int status, void* unused) {
  (void)unused;
  if (rf_is_own_process()) rf_cover_unseen();
  rf_note_exit(RF_EXIT_ON_EXIT, status);
}

static int quick_status;
static void at_quick(void) { rf_note_exit(RF_EXIT_QUICK, quick_status); }

void rf_watch_exits(void) {
  static int watching;
  if (watching) return;
  watching = 1;
  on_exit(at_exit_with, NULL);
  at_quick_exit(at_quick);
}

typedef void (*exit_fn)(int);
static exit_fn next_of(const char* name) {
  exit_fn next;
  *(void**)(&next) = dlsym(RTLD_NEXT, name);
  return next;
}
static exit_fn next_underscore, next_underscore_C99;
/* Resolved early, because a vfork child must not call the loader. */
__attribute__((constructor(101))) static void resolve_exits(void) {
  next_underscore = next_of("_exit");
  next_underscore_C99 = next_of("_Exit");
}

EXPORTED void _exit(int status) {
  rf_note_exit(RF_EXIT_UNDERSCORE, status);
  if (next_underscore) next_underscore(status);
  rf_sys_exit(status);
}

EXPORTED void _Exit(int status) {
  rf_note_exit(RF_EXIT_UNDERSCORE, status);
  if (next_underscore_C99) next_underscore_C99(status);
  rf_sys_exit(status);
}

/* Its handlers get no status, so the status is kept before the call. */
EXPORTED void quick_exit(int status) {
  quick_status = status;
  const exit_fn next = next_of("quick_exit");
  if (next) next(status);
  _exit(status);
}
