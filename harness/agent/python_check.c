/* python_check.c: checks, before the first use, that the frames of this Python look as python_layout.c says.
 * All reads go through /proc/self/mem: a wrong offset then gives an error, and the program goes on. */
#include <stddef.h>

#include "harness/agent/agent.h"
#include "harness/agent/python.h"
#include "harness/agent/sys.h"

#define MOST_FRAMES 200 /* of a stack that has more, the inner ones are checked */

static int memory;

static int peek(uint64_t at, void* to, uint64_t bytes) {
  return rf_sys6(SYS_pread64, memory, (long)to, (long)bytes, (long)at, 0, 0) == (long)bytes ? 0 : -1;
}
static int peek_pointer(uint64_t object, uint16_t offset, uint64_t* to) {
  return peek(object + offset, to, 8);
}

static int is_of_type(uint64_t object, const void* type) {
  uint64_t its_type = 0;
  return object && peek_pointer(object, 8, &its_type) == 0 && its_type == (uintptr_t)type;
}

/* A name ends with a zero after as many characters as it says. */
static int is_text(uint64_t text) {
  uint64_t length = 0;
  uint32_t state = 0;
  if (!is_of_type(text, rf_python.text_type) || peek(text + 16, &length, 8) != 0 ||
      peek(text + 32, &state, 4) != 0 || length > 65536)
    return 0;
  const uint32_t width = RF_PYTHON_TEXT_WIDTH(state);
  if (!RF_PYTHON_TEXT_IS_COMPACT(state) || (width != 1 && width != 2 && width != 4)) return 0;
  const uint64_t data =
      text + (RF_PYTHON_TEXT_IS_ASCII(state) ? rf_python.at.ascii_data : rf_python.at.wide_data);
  uint32_t last = 0, end = 0;
  if (length != 0 && peek(data + (length - 1) * width, &last, width) != 0) return 0;
  return peek(data + length * width, &end, width) == 0 && end == 0 && (length == 0 || last != 0);
}

static int is_code(uint64_t code) {
  const struct rf_python_layout* at = &rf_python.at;
  uint64_t file = 0, name = 0, lines = 0;
  int32_t first_line = -1;
  return is_of_type(code, rf_python.code_type) && peek_pointer(code, at->file, &file) == 0 && is_text(file) &&
         peek_pointer(code, at->name, &name) == 0 && is_text(name) &&
         peek_pointer(code, at->lines, &lines) == 0 && is_of_type(lines, rf_python.bytes_type) &&
         peek(code + at->first_line, &first_line, 4) == 0 && first_line >= 0;
}

/* The instruction is one of the code object's. */
static int is_instruction(uint64_t frame, uint64_t code) {
  const struct rf_python_layout* at = &rf_python.at;
  uint64_t instr = 0, units = 0;
  int32_t number = 0;
  if (at->instr_unit) return peek(frame + at->instr, &number, 4) == 0 && number >= -1 && number < 1 << 24;
  return peek_pointer(frame, at->instr, &instr) == 0 && peek_pointer(code, 16, &units) == 0 &&
         instr + 2 >= code + at->first_instr && instr < code + at->first_instr + units * 2;
}

static int is_shim(uint64_t frame) {
  char owner = 0;
  return rf_python.at.owner != 0 && peek(frame + rf_python.at.owner, &owner, 1) == 0 &&
         owner >= RF_PYTHON_OWNED_BY_C;
}

static int check_frames(uint64_t thread) {
  const struct rf_python_layout* at = &rf_python.at;
  uint64_t frame = 0;
  int seen = 0;
  if (peek_pointer(thread, at->thread_frame, &frame) != 0) return RF_PYTHON_UNEXPECTED;
  if (at->frame_in_cframe >= 0 && frame && peek_pointer(frame, (uint16_t)at->frame_in_cframe, &frame) != 0)
    return RF_PYTHON_UNEXPECTED;
  for (; frame && seen < MOST_FRAMES; ++seen) {
    uint64_t code = 0;
    if (!is_shim(frame)) {
      if (peek_pointer(frame, at->code, &code) != 0) return RF_PYTHON_UNEXPECTED;
      code &= ~(uint64_t)7;
      if (!is_code(code) || !is_instruction(frame, code)) return RF_PYTHON_UNEXPECTED;
    }
    if (peek_pointer(frame, at->previous, &frame) != 0) return RF_PYTHON_UNEXPECTED;
  }
  return seen > 0 ? RF_PYTHON_IS_ON : RF_PYTHON_NO_FRAMES;
}

int rf_python_check(const char* thread) {
  memory = rf_sys_open("/proc/self/mem", O_RDONLY, 0);
  if (memory < 0) return RF_PYTHON_UNREADABLE;
  const int off = check_frames((uintptr_t)thread);
  rf_sys_close(memory);
  return off;
}
