/* python_frames.c: the Python frames of the calling thread, on the hot path: a walk of its frames that reads
 * five words of each, and one lookup. */
#include <stdlib.h>

#include "harness/agent/agent.h"
#include "harness/agent/lock.h"
#include "harness/agent/python.h"

struct rf_python rf_python;

static void set_off(enum rf_python_off why) {
  RF_STORE(&rf_python.state, (uint32_t)RF_PYTHON_ABSENT);
  if (rf_is_recording()) RF_STORE(&rf_head->python_off, (uint32_t)why);
}

void rf_python_find(void) {
  rf_python_reset();
  rf_passes_reset();
  *(void**)(&rf_python.this_thread) = rf_lasting_symbol("PyGILState_GetThisThreadState");
  if (!rf_python.this_thread) return;
  *(void**)(&rf_python.is_finalizing) = rf_lasting_symbol("Py_IsFinalizing"); /* 3.13 and later */
  if (!rf_python.is_finalizing) *(void**)(&rf_python.is_finalizing) = rf_lasting_symbol("_Py_IsFinalizing");
  const char* wanted = getenv("RANKFAULT_PYTHON_FRAMES");
  if (wanted && wanted[0] == '0' && !wanted[1]) {
    set_off(RF_PYTHON_SWITCHED_OFF);
    return;
  }
  const enum rf_python_off off = rf_python_choose_layout();
  RF_STORE(&rf_head->python_minor, rf_python.at.minor);
  rf_python.code_type = rf_lasting_symbol("PyCode_Type");
  rf_python.text_type = rf_lasting_symbol("PyUnicode_Type");
  rf_python.bytes_type = rf_lasting_symbol("PyBytes_Type");
  if (off != RF_PYTHON_IS_ON)
    set_off(off);
  else if (!rf_python.is_finalizing || !rf_python.code_type || !rf_python.text_type || !rf_python.bytes_type)
    set_off(RF_PYTHON_UNEXPECTED);
  else
    RF_STORE(&rf_python.state, (uint32_t)RF_PYTHON_UNCHECKED);
}

static const char* innermost(const char* thread) {
  const char* frame = rf_python_pointer(thread, rf_python.at.thread_frame);
  if (!frame || rf_python.at.frame_in_cframe < 0) return frame;
  return rf_python_pointer(frame, (uint16_t)rf_python.at.frame_in_cframe);
}

static inline uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

static uint64_t hash_of(const char* frame) {
  uint64_t hash = 0;
  for (uint32_t n = 0; frame && n < RF_PYTHON_FRAMES; frame = rf_python_previous(frame)) {
    if (rf_python_is_shim(frame)) continue;
    const char* code = rf_python_code_of(frame);
    hash = mix(hash, (uintptr_t)code);
    hash = mix(hash, rf_python_instr(frame));
    hash = mix(hash, rf_python_identity(code));
    ++n;
  }
  return hash;
}

/* A thread without frames decides nothing. A program may have many such calls: the check is tried at the
 * first, the second, the fourth call and so on. */
static __attribute__((noinline, cold)) int is_checked(const char* thread) {
  static struct rf_lock checking;
  static uint32_t tries;
  const uint32_t n = __atomic_add_fetch(&tries, 1, __ATOMIC_RELAXED);
  if ((n & (n - 1)) != 0 || rf_lock_take_within(&checking, RF_LOCK_BRIEFLY) != 0) return 0;
  if (RF_LOAD(&rf_python.state) == RF_PYTHON_UNCHECKED) {
    const int off = rf_python_check(thread);
    if (off == RF_PYTHON_IS_ON)
      RF_STORE(&rf_python.state, (uint32_t)RF_PYTHON_CHECKED);
    else if (off != RF_PYTHON_NO_FRAMES)
      set_off((enum rf_python_off)off);
  }
  rf_lock_give(&checking);
  rf_clean_stack();
  return RF_LOAD(&rf_python.state) == RF_PYTHON_CHECKED;
}

uint64_t rf_python_where(void) {
  int own = 1;
  const char* thread = rf_python.this_thread();
  if (!thread) return rf_frames_behind(&own); /* not a thread of Python */
  if (rf_python.is_finalizing()) return 0;
  if (RF_UNLIKELY(RF_LOAD(&rf_python.state) != RF_PYTHON_CHECKED) && !is_checked(thread)) return 0;
  const uint64_t behind = rf_frames_behind(&own);
  const char* frame = own ? innermost(thread) : NULL;
  uint64_t hash = hash_of(frame);
  if (!hash) return behind;
  if (RF_UNLIKELY(behind != 0)) hash = mix(hash, behind);
  const uint64_t where = rf_python_known(hash);
  return RF_LIKELY(where != 0) ? where : rf_python_keep(frame, behind, hash);
}
