/* python_layout.c: where each version of Python keeps its frames. Offsets of 3.8 to 3.12 are from the headers
 * of these versions: cpython/pystate.h, cpython/code.h, cpython/unicodeobject.h, and frameobject.h (3.8 to
 * 3.10) or internal/pycore_frame.h. 3.13 and later publish theirs at the begin of _PyRuntime
 * (internal/pycore_debug_offsets.h). */
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/python.h"

static const struct rf_python_layout kLayouts[] = {
    {.minor = 8,
     .thread_frame = 24,
     .frame_in_cframe = -1,
     .code = 32,
     .previous = 24,
     .instr = 104,
     .instr_unit = 1,
     .file = 104,
     .name = 112,
     .first_line = 40,
     .lines = 120,
     .ascii_data = 48,
     .wide_data = 72},
    {.minor = 9,
     .thread_frame = 24,
     .frame_in_cframe = -1,
     .code = 32,
     .previous = 24,
     .instr = 104,
     .instr_unit = 1,
     .file = 104,
     .name = 112,
     .first_line = 40,
     .lines = 120,
     .ascii_data = 48,
     .wide_data = 72},
    {.minor = 10,
     .thread_frame = 24,
     .frame_in_cframe = -1,
     .code = 32,
     .previous = 24,
     .instr = 96,
     .instr_unit = 2,
     .file = 104,
     .name = 112,
     .first_line = 40,
     .lines = 120,
     .ascii_data = 48,
     .wide_data = 72},
    {.minor = 11,
     .thread_frame = 56,
     .frame_in_cframe = 8,
     .code = 32,
     .previous = 48,
     .instr = 56,
     .file = 112,
     .name = 128,
     .first_line = 72,
     .lines = 136,
     .first_instr = 184,
     .ascii_data = 48,
     .wide_data = 72},
    {.minor = 12,
     .thread_frame = 56,
     .frame_in_cframe = 0,
     .code = 0,
     .previous = 8,
     .instr = 56,
     .owner = 70,
     .file = 112,
     .name = 128,
     .first_line = 68,
     .lines = 136,
     .first_instr = 192,
     .ascii_data = 40,
     .wide_data = 56},
};

/* Words of the published table that begin the groups of the thread state, the frame and the code object. */
static const struct {
  uint8_t minor, thread, frame, code;
} kPublished[] = {{13, 19, 28, 34}, {14, 22, 31, 39}};

static enum rf_python_off read_published(const uint64_t* table, uint32_t minor, uint32_t hex) {
  static const char kCookie[8] = "xdebugpy";
  for (size_t i = 0; i < sizeof(kPublished) / sizeof(kPublished[0]); ++i) {
    if (kPublished[i].minor != minor) continue;
    if (memcmp(table, kCookie, sizeof(kCookie)) != 0 || table[1] != hex) return RF_PYTHON_UNEXPECTED;
    if (table[2] != 0) return RF_PYTHON_FREE_THREADED;
    const uint64_t* thread = table + kPublished[i].thread;
    const uint64_t* frame = table + kPublished[i].frame;
    const uint64_t* code = table + kPublished[i].code;
    if (thread[4] >= thread[0] || frame[3] >= frame[0] || code[4] >= code[0] || thread[0] > 4096 ||
        frame[0] > 4096 || code[0] > 4096 || code[9] > code[0])
      return RF_PYTHON_UNEXPECTED;
    rf_python.at = (struct rf_python_layout){.minor = (uint8_t)minor,
                                             .thread_frame = (uint16_t)thread[4],
                                             .frame_in_cframe = -1,
                                             .previous = (uint16_t)frame[1],
                                             .code = (uint16_t)frame[2],
                                             .instr = (uint16_t)frame[3],
                                             .owner = (uint16_t)frame[5],
                                             .file = (uint16_t)code[1],
                                             .name = (uint16_t)code[3],
                                             .lines = (uint16_t)code[4],
                                             .first_line = (uint16_t)code[5],
                                             .first_instr = (uint16_t)code[9],
                                             .ascii_data = 40,
                                             .wide_data = 56};
    return RF_PYTHON_IS_ON;
  }
  return RF_PYTHON_UNKNOWN_VERSION;
}

/* "3.11.2 (main, ...)" as 0x030b0000: Py_Version exists since 3.11 only. */
static uint32_t version_of_text(const char* text) {
  uint32_t part[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    while (*text >= '0' && *text <= '9') part[i] = part[i] * 10 + (uint32_t)(*text++ - '0');
    if (*text++ != '.') break;
  }
  return part[0] << 24 | part[1] << 16;
}

static uint32_t version(void) {
  const unsigned long* number = rf_lasting_symbol("Py_Version");
  if (number) return (uint32_t)*number;
  const char* (*text)(void);
  *(void**)(&text) = rf_lasting_symbol("Py_GetVersion");
  return text ? version_of_text(text()) : 0;
}

enum rf_python_off rf_python_choose_layout(void) {
  const uint32_t hex = version(), minor = hex >> 16 & 0xff;
  if (hex >> 24 != 3) return RF_PYTHON_UNKNOWN_VERSION;
  for (size_t i = 0; i < sizeof(kLayouts) / sizeof(kLayouts[0]); ++i)
    if (kLayouts[i].minor == minor) {
      rf_python.at = kLayouts[i];
      return RF_PYTHON_IS_ON;
    }
  const uint64_t* table = rf_lasting_symbol("_PyRuntime");
  return table ? read_published(table, minor, hex) : RF_PYTHON_UNKNOWN_VERSION;
}
