/* python.h: finds the Python frames of a call, for the hot path (python_frames.c), and keeps each stack once
 * (python_stacks.c). A thread inside a call cannot change its own frames, so they are read without the
 * interpreter's lock and without any call of Python that needs it. */
#ifndef RANKFAULT_AGENT_PYTHON_H
#define RANKFAULT_AGENT_PYTHON_H

#include "harness/agent/python_abi.h"

/* Where one version of Python keeps what we read: offsets in bytes, for 64-bit release builds. */
struct rf_python_layout {
  uint8_t minor;
  uint16_t thread_frame;          /* thread state: the frame, or what `frame_in_cframe` says */
  int16_t frame_in_cframe;        /* -1: thread_frame is the frame; else it is a C frame, which has it here */
  uint16_t code, previous, instr; /* of a frame */
  uint8_t instr_unit;             /* 0: instr is an address; else it is an int, in units of so many bytes */
  uint16_t owner;                 /* of a frame; 0: no frame is a shim (before 3.12) */
  uint16_t file, name, first_line, lines; /* of a code object */
  uint16_t first_instr;                   /* of a code object; 0: instr_unit is not 0 */
  uint8_t ascii_data, wide_data;          /* of a string: where its characters begin */
};

struct rf_python {
  uint32_t state; /* rf_python_state */
  struct rf_python_layout at;
  char* (*this_thread)(void); /* PyGILState_GetThisThreadState, which needs no lock */
  int (*is_finalizing)(void); /* the interpreter frees the frames of threads that still run */
  const void *code_type, *text_type, *bytes_type;
};
enum rf_python_state { RF_PYTHON_ABSENT, RF_PYTHON_UNCHECKED, RF_PYTHON_CHECKED };
extern struct rf_python rf_python;

void rf_python_find(void); /* at the opening of the record: looks for an interpreter in the process */

/* What rf_record.where says of the calling thread's frames, and of those that continue them (passes.c); 0 if
 * it has none. */
uint64_t rf_python_where(void);

/* python_layout.c: fills rf_python.at; returns rf_python_off. */
enum rf_python_off rf_python_choose_layout(void);
/* python_check.c: reads the thread's frames through /proc/self/mem, so that a wrong offset cannot end the
 * program. Returns rf_python_off, or RF_PYTHON_NO_FRAMES if the thread has none. One thread at a time. */
#define RF_PYTHON_NO_FRAMES (-1)
int rf_python_check(const char* thread);

/* python_stacks.c. `first` is the innermost frame, `behind` a kept stack that continues the frames, or 0;
 * `hash` is that of all of them. */
uint64_t rf_python_known(uint64_t hash); /* where; 0: not kept yet */
uint64_t rf_python_keep(const char* first, uint64_t behind, uint64_t hash);
void rf_python_reset(void); /* for a newly opened record */

/* The word `state` of a string, which all these versions keep 32 bytes after its begin. */
#define RF_PYTHON_TEXT_WIDTH(state) ((state) >> 2 & 7u)
#define RF_PYTHON_TEXT_IS_COMPACT(state) ((state) >> 5 & 1u)
#define RF_PYTHON_TEXT_IS_ASCII(state) ((state) >> 6 & 1u)

/* The parts of a frame. */
static inline const char* rf_python_pointer(const char* object, uint16_t offset) {
  return *(const char* const*)(const void*)(object + offset);
}
static inline const char* rf_python_code_of(const char* frame) { /* 3.14 tags the pointer */
  return (const char*)((uintptr_t)rf_python_pointer(frame, rf_python.at.code) & ~(uintptr_t)7); /* NOLINT */
}
static inline const char* rf_python_previous(const char* frame) {
  return rf_python_pointer(frame, rf_python.at.previous);
}
/* Together with its address, what distinguishes a code object from a later one at the same place. */
static inline uint64_t rf_python_identity(const char* code) {
  return (uintptr_t)rf_python_pointer(code, rf_python.at.lines) ^
         (uintptr_t)rf_python_pointer(code, rf_python.at.name) << 7 ^
         (uintptr_t)rf_python_pointer(code, rf_python.at.file) << 17 ^
         (uint64_t) * (const uint32_t*)(const void*)(code + rf_python.at.first_line) << 40;
}
/* A frame between two evaluation loops has no code of the program. The owners of the others are smaller. */
#define RF_PYTHON_OWNED_BY_C 3
static inline int rf_python_is_shim(const char* frame) {
  return rf_python.at.owner != 0 && frame[rf_python.at.owner] >= RF_PYTHON_OWNED_BY_C;
}
static inline uint64_t rf_python_instr(const char* frame) { /* an address, or a number */
  const char* at = frame + rf_python.at.instr;
  return rf_python.at.instr_unit ? *(const uint32_t*)(const void*)at : *(const uint64_t*)(const void*)at;
}

#endif /* RANKFAULT_AGENT_PYTHON_H */
