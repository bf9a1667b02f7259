/* jumps.c: a jump out of a call: by longjmp from a signal handler or a callback. The call has no exit record
 * then, and its lane stays inside while its thread runs elsewhere, so the process says that its record is not
 * the whole truth. Where a jump ends is not known (the C library hides it), so one within a callback counts,
 * too. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "harness/agent/agent.h"

#define EXPORTED __attribute__((visibility("default"), noreturn))

typedef void (*jump_fn)(void* to, int value);
static jump_fn next_longjmp, next_underscore, next_siglongjmp, next_checked;

static jump_fn next_of(const char* name) {
  jump_fn next;
  *(void**)(&next) = dlsym(RTLD_NEXT, name);
  return next;
}

/* Resolved early: a signal handler is no place for the loader. */
__attribute__((constructor(101))) static void resolve_jumps(void) {
  next_longjmp = next_of("longjmp");
  next_underscore = next_of("_longjmp");
  next_siglongjmp = next_of("siglongjmp");
  next_checked = next_of("__longjmp_chk");
}

__attribute__((noreturn)) static void jump(jump_fn next, const char* name, void* to, int value) {
  if (RF_UNLIKELY(rf_me.depth != 0)) rf_opaque(RF_OPAQUE_COMMUNICATION | RF_OPAQUE_NESTED);
  if (RF_UNLIKELY(!next)) next = next_of(name); /* a constructor that runs before ours */
  next(to, value);
  __builtin_trap();
}

void longjmp(void* to, int value);
void _longjmp(void* to, int value);
void siglongjmp(void* to, int value);
void __longjmp_chk(void* to, int value);

EXPORTED void longjmp(void* to, int value) { jump(next_longjmp, "longjmp", to, value); }
EXPORTED void _longjmp(void* to, int value) { jump(next_underscore, "_longjmp", to, value); }
EXPORTED void siglongjmp(void* to, int value) { jump(next_siglongjmp, "siglongjmp", to, value); }
EXPORTED void __longjmp_chk(void* to, int value) { jump(next_checked, "__longjmp_chk", to, value); }
