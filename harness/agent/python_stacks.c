/* python_stacks.c: keeps each code object and each stack once, in the file of python_abi.h. This is not the
 * hot path: a program makes its calls from few places. Tables outside the file find what is kept. */
#include <stddef.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/lock.h"
#include "harness/agent/python.h"

#define STACKS 16384u /* powers of two */
#define CODES 8192u

static struct { uint64_t hash, where; /* where is stored last */ } stacks[STACKS];
static struct { /* read and written under the lock only */
  uint64_t hash;
  uint32_t offset;
} codes[CODES];

static struct rf_lock keeping;
static char* chunk[RF_PYTHON_CHUNKS];
static uint32_t used; /* offset of the next entry; 0: no file yet */
static uint32_t stacks_kept, codes_kept;
static int is_full; /* a table, the file or the disk: nothing more is kept */

void rf_python_reset(void) {
  is_full = 0;
  memset(chunk, 0, sizeof(chunk)); /* a fork may have come before the first entry */
  if (!used) return;               /* nothing is kept: do not touch the tables */
  memset(stacks, 0, sizeof(stacks));
  memset(codes, 0, sizeof(codes));
  used = stacks_kept = codes_kept = 0;
}

uint64_t rf_python_known(uint64_t hash) {
  for (uint32_t i = (uint32_t)hash & (STACKS - 1);; i = (i + 1) & (STACKS - 1)) {
    const uint64_t seen = __atomic_load_n(&stacks[i].hash, __ATOMIC_ACQUIRE);
    if (seen == hash) return RF_LOAD(&stacks[i].where);
    if (!seen) return 0;
  }
}

static void* refuse(void) {
  is_full = 1;
  return NULL;
}

/* Returns null if the file is full, or the disk refuses. */
static void* add_entry(uint64_t bytes, uint32_t* offset) {
  bytes = (bytes + 7) & ~(uint64_t)7; /* a chunk holds the longest entry: see the bounds in python_abi.h */
  uint32_t at = used ? used : (uint32_t)sizeof(struct rf_python_file);
  if (at / RF_PYTHON_CHUNK != (at + bytes - 1) / RF_PYTHON_CHUNK)
    at = (at / RF_PYTHON_CHUNK + 1) * RF_PYTHON_CHUNK;
  const uint32_t n = at / RF_PYTHON_CHUNK;
  if (n >= RF_PYTHON_CHUNKS) return refuse();
  if (!chunk[n]) {
    chunk[n] = rf_map_beside_record(".python", (uint64_t)n * RF_PYTHON_CHUNK, RF_PYTHON_CHUNK);
    if (!chunk[n]) return refuse();
    if (n == 0) {
      struct rf_python_file* file = (struct rf_python_file*)(void*)chunk[0];
      file->abi_version = RF_ABI_VERSION;
      file->minor = rf_python.at.minor;
      RF_STORE(&file->magic, RF_PYTHON_MAGIC);
    }
  }
  used = at + (uint32_t)bytes;
  *offset = at;
  return chunk[n] + at % RF_PYTHON_CHUNK;
}

static uint32_t character(const char* data, uint32_t width, uint64_t i) {
  return width == 1   ? ((const uint8_t*)data)[i]
         : width == 2 ? ((const uint16_t*)(const void*)data)[i]
                      : ((const uint32_t*)(const void*)data)[i];
}

static uint32_t utf8_bytes(uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

static void write_utf8(char* to, uint32_t c, uint32_t bytes) {
  static const uint8_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (uint32_t i = bytes - 1; i > 0; --i, c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)(kLead[bytes] | c);
}

/* Writes the end of a string of Python as UTF-8, at most RF_PYTHON_TEXT_BYTES. Without `to` it only counts.
 * Returns the number of bytes. */
static uint32_t write_text(char* to, const char* text) {
  if (!text) return 0;
  const uint64_t length = *(const uint64_t*)(const void*)(text + 16);
  const uint32_t state = *(const uint32_t*)(const void*)(text + 32), width = RF_PYTHON_TEXT_WIDTH(state);
  const char* data =
      text + (RF_PYTHON_TEXT_IS_ASCII(state) ? rf_python.at.ascii_data : rf_python.at.wide_data);
  uint64_t first = length;
  uint32_t bytes = 0;
  while (first > 0) {
    const uint32_t more = utf8_bytes(character(data, width, first - 1));
    if (bytes + more > RF_PYTHON_TEXT_BYTES) break;
    bytes += more;
    --first;
  }
  for (; to && first < length; ++first) {
    const uint32_t c = character(data, width, first), n = utf8_bytes(c);
    write_utf8(to, c, n);
    to += n;
  }
  return bytes;
}

static int is_of(const char* object, const void* type) {
  return object && rf_python_pointer(object, 8) == type;
}

/* A name of another type, or in the old form of strings, is left out: null. */
static const char* text_of(const char* code, uint16_t offset) {
  const char* text = rf_python_pointer(code, offset);
  if (!is_of(text, rf_python.text_type)) return NULL;
  const uint32_t state = *(const uint32_t*)(const void*)(text + 32), width = RF_PYTHON_TEXT_WIDTH(state);
  return RF_PYTHON_TEXT_IS_COMPACT(state) && (width == 1 || width == 2 || width == 4) ? text : NULL;
}

/* Returns the entry's offset; 0: not kept. */
static uint32_t write_code(const char* code) {
  const struct rf_python_layout* at = &rf_python.at;
  const char *file = text_of(code, at->file), *name = text_of(code, at->name);
  const char* lines = rf_python_pointer(code, at->lines);
  uint64_t line_bytes =
      is_of(lines, rf_python.bytes_type) ? *(const uint64_t*)(const void*)(lines + 16) : UINT64_MAX;
  const int has_lines = line_bytes <= RF_PYTHON_LINES_BYTES;
  if (!has_lines) line_bytes = 0;
  const uint32_t file_bytes = write_text(NULL, file), name_bytes = write_text(NULL, name);
  uint32_t offset;
  struct rf_python_code* entry = add_entry(sizeof(*entry) + file_bytes + name_bytes + line_bytes, &offset);
  if (!entry) return 0;
  entry->kind = RF_PYTHON_CODE;
  entry->file_bytes = (uint16_t)file_bytes;
  entry->name_bytes = (uint16_t)name_bytes;
  entry->has_lines = (uint16_t)has_lines;
  entry->first_line = *(const int32_t*)(const void*)(code + at->first_line);
  entry->line_bytes = (uint32_t)line_bytes;
  char* to = (char*)(entry + 1);
  write_text(to, file);
  write_text(to + file_bytes, name);
  if (line_bytes) memcpy(to + file_bytes + name_bytes, lines + 32, line_bytes);
  return offset;
}

static uint64_t hash_of_code(const char* code) {
  const uint64_t words[2] = {(uintptr_t)code, rf_python_identity(code)};
  return rf_hash_bytes(0, words, sizeof(words));
}

static uint32_t keep_code(const char* code) {
  if (rf_python_pointer(code, 8) != rf_python.code_type) return 0;
  const uint64_t hash = hash_of_code(code);
  uint32_t i = (uint32_t)hash & (CODES - 1);
  for (; codes[i].hash; i = (i + 1) & (CODES - 1))
    if (codes[i].hash == hash) return codes[i].offset;
  if (codes_kept >= CODES / 2) refuse();
  if (is_full) return 0;
  const uint32_t offset = write_code(code);
  if (offset) {
    codes[i].hash = hash;
    codes[i].offset = offset;
    ++codes_kept;
  }
  return offset;
}

static uint32_t instruction_of(const char* frame, const char* code) {
  const uint64_t instr = rf_python_instr(frame);
  if (rf_python.at.instr_unit) return (uint32_t)instr * rf_python.at.instr_unit;
  return (uint32_t)(instr - ((uintptr_t)code + rf_python.at.first_instr));
}

static uint32_t count_frames(const char* frame, int* is_deeper) {
  uint32_t frames = 0;
  for (; frame; frame = rf_python_previous(frame)) {
    if (rf_python_is_shim(frame)) continue;
    *is_deeper = frames == RF_PYTHON_FRAMES;
    if (*is_deeper) break;
    ++frames;
  }
  return frames;
}

/* The code objects come first: the file has no gap when one of them is refused. */
static uint64_t write_stack(const char* first, const struct rf_python_stack* behind) {
  int is_deeper = 0;
  const uint32_t frames = count_frames(first, &is_deeper);
  uint32_t n = 0, more = behind ? behind->frames : 0;
  if (more > RF_PYTHON_FRAMES - frames) more = RF_PYTHON_FRAMES - frames;
  if (behind) is_deeper |= more < behind->frames || behind->is_deeper;
  for (const char* frame = first; frame && n < frames; frame = rf_python_previous(frame)) {
    if (rf_python_is_shim(frame)) continue;
    if (!keep_code(rf_python_code_of(frame))) return 0;
    ++n;
  }
  uint32_t offset;
  struct rf_python_stack* entry =
      add_entry(sizeof(*entry) + (frames + more) * sizeof(entry->frame[0]), &offset);
  if (!entry) return 0;
  entry->kind = RF_PYTHON_STACK;
  entry->is_deeper = (uint32_t)is_deeper;
  n = 0;
  for (const char* frame = first; frame && n < frames; frame = rf_python_previous(frame)) {
    if (rf_python_is_shim(frame)) continue;
    const char* code = rf_python_code_of(frame);
    entry->frame[n].code = keep_code(code) >> 3;
    entry->frame[n++].at = instruction_of(frame, code);
  }
  for (uint32_t i = 0; i < more; ++i) entry->frame[n++] = behind->frame[i];
  entry->frames = (uint16_t)n;
  return RF_WHERE_OF_STACK(offset);
}

/* NULL: there is none. A coroutine library may have moved the memory that held the place. */
static const struct rf_python_stack* kept_stack(uint64_t where) {
  const uint64_t offset = RF_STACK_OF_WHERE(where);
  if (offset + sizeof(struct rf_python_stack) > used) return NULL;
  return (const struct rf_python_stack*)(const void*)(chunk[offset / RF_PYTHON_CHUNK] +
                                                      offset % RF_PYTHON_CHUNK);
}

static uint64_t keep_locked(const char* first, uint64_t behind, uint64_t hash) {
  const uint64_t known = rf_python_known(hash); /* another thread may have kept it */
  if (!known && stacks_kept >= STACKS / 2) refuse();
  if (known || is_full) return known;
  const uint64_t where = write_stack(first, behind ? kept_stack(behind) : NULL);
  if (!where) return 0;
  uint32_t i = (uint32_t)hash & (STACKS - 1);
  while (stacks[i].hash) i = (i + 1) & (STACKS - 1);
  stacks[i].where = where;
  RF_STORE(&stacks[i].hash, hash);
  ++stacks_kept;
  return where;
}

uint64_t rf_python_keep(const char* first, uint64_t behind, uint64_t hash) {
  uint64_t where = 0;
  if (RF_LOAD(&is_full)) return 0; /* do not try at each call */
  if (rf_lock_take_within(&keeping, RF_LOCK_BRIEFLY) == 0) {
    where = keep_locked(first, behind, hash);
    if (is_full) RF_STORE(&rf_head->python_off, (uint32_t)RF_PYTHON_NO_SPACE);
    rf_lock_give(&keeping);
  }
  rf_clean_stack();
  return where;
}
