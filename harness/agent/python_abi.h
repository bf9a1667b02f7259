/* python_abi.h: the bytes of the file in which a process keeps the Python frames of its calls.
 *
 * The file lies beside the flight record and has its name with ".python" in place of ".ring". It has entries
 * of two kinds, each at a multiple of 8 bytes. An entry is complete before a record refers to it, and it
 * never changes. A code entry describes one code object; a stack entry lists the frames of a call, innermost
 * first. Each code object and each stack is written once. Lines are decoded by the reader. */
#ifndef RANKFAULT_PYTHON_ABI_H
#define RANKFAULT_PYTHON_ABI_H

#include <stdint.h>

#define RF_PYTHON_MAGIC 0x6874795046524b4eull
#define RF_PYTHON_CHUNK (256u * 1024u) /* the file grows by this; no entry crosses the end of one */
#define RF_PYTHON_CHUNKS 64u
#define RF_PYTHON_FRAMES 40u         /* of one call; the outer ones are left out */
#define RF_PYTHON_TEXT_BYTES 1024u   /* of a name; a longer one keeps its end */
#define RF_PYTHON_LINES_BYTES 65536u /* of a line table; a longer one is left out */

/* rf_record.where and rf_state.return_address of a call with Python frames: the entry's offset in the file,
 * divided by 8, with this bit. No address of a program has it. */
#define RF_WHERE_PYTHON 0x8000000000000000ull
#define RF_WHERE_OF_STACK(offset) (RF_WHERE_PYTHON | (uint64_t)(offset) >> 3)
#define RF_STACK_OF_WHERE(where) (((where) & ~RF_WHERE_PYTHON) << 3)

enum rf_python_kind { RF_PYTHON_CODE = 1, RF_PYTHON_STACK = 2 };

/* rf_header.python_off: why the calls of a process with Python have no Python frames. */
enum rf_python_off {
  RF_PYTHON_IS_ON,
  RF_PYTHON_SWITCHED_OFF,    /* RANKFAULT_PYTHON_FRAMES=0 */
  RF_PYTHON_UNKNOWN_VERSION, /* not 3.8 to 3.14 */
  RF_PYTHON_FREE_THREADED,
  RF_PYTHON_UNEXPECTED, /* the frames do not look as this version makes them */
  RF_PYTHON_UNREADABLE, /* /proc/self/mem cannot be opened, so nothing can be checked */
  RF_PYTHON_NO_SPACE    /* the disk refused the file */
};

struct rf_python_file { /* at offset 0 */
  uint64_t magic;
  uint32_t abi_version; /* RF_ABI_VERSION */
  uint32_t minor;       /* of Python 3 */
};

struct rf_python_code {
  uint16_t kind;                   /* RF_PYTHON_CODE */
  uint16_t file_bytes, name_bytes; /* UTF-8, without a zero; the texts follow in this order */
  uint16_t has_lines;              /* 0: the line table is left out */
  int32_t first_line;
  uint32_t line_bytes; /* of the line table, which follows the texts; before 3.10 it may be empty */
};

struct rf_python_frame {
  uint32_t code; /* offset of its entry, divided by 8 */
  uint32_t at;   /* offset of the instruction, in bytes */
};

struct rf_python_stack {
  uint16_t kind; /* RF_PYTHON_STACK */
  uint16_t frames;
  uint32_t is_deeper; /* 1: outer frames are left out */
  struct rf_python_frame frame[];
};

#endif /* RANKFAULT_PYTHON_ABI_H */
