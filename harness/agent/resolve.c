/* resolve.c: the first call of a name: loads its library's decoder once and decides the target of the name's
 * trampoline. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/exports.h"
#include "harness/agent/lock.h"
#include "harness/agent/tables.h"

/* Stack use below a first call, measured with glibc 2.36: 4 KiB, and 20.4 KiB if a decoder is loaded.
 * Multiples of 16. */
#define USED_BY_LOOKUP (4608u)
#define USED_BY_LOADING (24u * 1024)

struct resolved { /* returned in two registers */
  void* target;
  uint64_t stack_used;
};
struct resolved rf_resolve_slot(uint32_t index, const void* caller);

static void* wrapper_of[RF_MAX_CALLS];
static uint8_t decoder_state[RF_MAX_LIBRARIES * 2]; /* 0 not tried, 1 tried */
static struct rf_lock loading;

static uint16_t by_hash[RF_MAX_CALLS * 2]; /* index + 1 */

static void index_names(void) {
  if (by_hash[RF_MAX_CALLS * 2 - 1]) return;
  for (uint32_t i = 0; i < rf_call_count; ++i) {
    uint32_t at = (uint32_t)rf_hash_text(rf_call_names[i].symbol) % (RF_MAX_CALLS * 2 - 1);
    while (by_hash[at]) at = (at + 1) % (RF_MAX_CALLS * 2 - 1);
    by_hash[at] = (uint16_t)(i + 1);
  }
  by_hash[RF_MAX_CALLS * 2 - 1] = 1; /* the index is complete */
}

int32_t rf_index_of(const char* symbol) {
  index_names();
  uint32_t at = (uint32_t)rf_hash_text(symbol) % (RF_MAX_CALLS * 2 - 1);
  for (; by_hash[at]; at = (at + 1) % (RF_MAX_CALLS * 2 - 1))
    if (strcmp(rf_call_names[by_hash[at] - 1].symbol, symbol) == 0) return by_hash[at] - 1;
  return -1;
}

/* Also replaces the target of a name that was passed through before its decoder was loaded. */
static void wrap(int32_t index, void* wrapper) {
  wrapper_of[index] = wrapper;
  RF_STORE(&rf_call_slots[index], wrapper);
}

/* A name of MPI and its profiling name are one function, so either of them is recorded. But if a tool is
 * between the two, the call that comes from the tool is recorded, because the tool may make more or other
 * calls. */
static void wrap_both(int32_t index, const struct rf_wrapper* w, void* next) {
  const int32_t profiling = rf_call_names[index + 1].profiling ? index + 1 : -1;
  void* real = profiling >= 0 ? rf_resolve_next(rf_call_names[profiling].symbol) : NULL;
  const int has_tool = real && real != next && !rf_same_object(real, next);
  *w->next = has_tool ? real : next;
  if (real) wrap(profiling, w->wrapper);
  if (!has_tool) wrap(index, w->wrapper);
}

static void take_wrappers(const struct rf_decoder_v1* decoder) {
  for (const struct rf_wrapper* w = decoder->wrappers; w && w->symbol; ++w) {
    void* next = rf_resolve_next(w->symbol);
    const int32_t index = rf_index_of(w->symbol);
    if (next && index >= 0) wrap_both(index, w, next); /* an absent name stays absent */
  }
}

/* Returns null and the reason if the decoder cannot serve. */
static const struct rf_decoder_v1* open_decoder(const char* file, const char** reason) {
  char path[RF_PATH_BYTES * 3];
  const char* folder = rf_decoder_folder();
  snprintf(path, sizeof(path), "%s%s%s", folder[0] ? folder : rf_own_folder(), folder[0] ? "/" : "decoders/",
           file);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  *reason = handle ? "not a decoder" : "decoder does not load";
  const struct rf_decoder_v1* decoder = handle ? dlsym(handle, "rankfault_decoder_v1") : NULL;
  if (!decoder) return NULL;
  *reason = "decoder of another version";
  if (decoder->version != RF_CORE_VERSION || decoder->bytes < sizeof(*decoder)) return NULL;
  *reason = "decoder refused";
  if (decoder->attach && decoder->attach(&rf_core, reason) != 0) return NULL;
  return decoder;
}

/* Whether a decoder that an earlier library loaded serves this library, too. */
static int is_served_already(uint8_t library, const char* file) {
  for (const struct rf_decoder_choice* c = rf_decoder_choices; c->file; ++c)
    if (c->library != library && decoder_state[c->library] && strcmp(c->file, file) == 0 &&
        rf_resolve_next(c->probe))
      return 1;
  return 0;
}

static void load_decoder(uint8_t library) {
  for (const struct rf_decoder_choice* c = rf_decoder_choices; c->file; ++c) {
    if (c->library != library || !rf_resolve_next(c->probe)) continue;
    if (is_served_already(library, c->file)) return;
    const char* reason = NULL;
    const struct rf_decoder_v1* decoder = open_decoder(c->file, &reason);
    if (!decoder) {
      rf_coverage(library, c->file, 0, RF_HOOK_NONE, reason);
      return;
    }
    take_wrappers(decoder);
    return;
  }
  rf_coverage(library, NULL, 0, RF_HOOK_NONE, "no decoder for this library");
}

static uint32_t opaque_bit(uint8_t class) {
  switch (class) {
    case RF_CLASS_COMMUNICATION:
      return RF_OPAQUE_COMMUNICATION;
    case RF_CLASS_RMA:
      return RF_OPAQUE_RMA;
    case RF_CLASS_IO:
      return RF_OPAQUE_IO;
    case RF_CLASS_OTHER:
      return RF_OPAQUE_OTHER;
    default:
      return 0;
  }
}

static void* decide(uint32_t index, int by_library, uint64_t* stack_used) {
  const struct rf_call_name* name = &rf_call_names[index];
  if (!rf_inert()) {
    if (!decoder_state[name->library] && name->call_class != RF_CLASS_FOLLOWER) {
      decoder_state[name->library] = 1;
      load_decoder(name->library);
      *stack_used = USED_BY_LOADING;
    }
    if (wrapper_of[index]) return wrapper_of[index];
    if (!by_library) rf_opaque(opaque_bit(name->call_class));
  }
  return rf_resolve_next(name->symbol);
}

/* Called by the stubs with all argument registers saved. A communication name that no decoder wraps is passed
 * through for good once the program has called it; until then each call by the library itself also comes
 * here. */
struct resolved rf_resolve_slot(uint32_t index, const void* caller) {
  struct resolved answer = {NULL, USED_BY_LOOKUP};
  const int error = errno;
  rf_start();
  const char* symbol = rf_call_names[index].symbol;
  void* target = NULL;
  ++rf_me.in_core;
  const int by_library = rf_call_names[index].profiling && rf_is_library_code(caller);
  if (rf_lock_take(&loading) == 0) {
    target = decide(index, by_library, &answer.stack_used);
    if (target &&
        (!by_library || wrapper_of[index] || rf_call_names[index].call_class != RF_CLASS_COMMUNICATION))
      RF_STORE(&rf_call_slots[index], target);
    rf_lock_give(&loading);
  } else { /* during the loading, or a thread that holds the loader waits for us: pass this one through */
    target = rf_resolve_next(symbol);
    if (!by_library) rf_opaque(opaque_bit(rf_call_names[index].call_class));
  }
  rf_note_modules();
  rf_check_hidden();
  --rf_me.in_core;
  errno = error;
  answer.target = target ? target : rf_absent(symbol);
  return answer;
}
