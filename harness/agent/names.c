/* names.c: the texts of a flight record, each kept once. A hash table outside the record finds them. Two
 * threads that add a new name at the same instant may store it twice, which is harmless. */
#include <string.h>

#include "harness/agent/agent.h"

#define BUCKETS 2048u /* a power of two */

static struct {
  uint64_t hash;
  uint32_t offset; /* stored last */
} known[BUCKETS];

void rf_names_reset(void) { memset(known, 0, sizeof(known)); }

const char* rf_name_text(uint32_t offset) {
  return rf_names && offset < RF_NAME_BYTES ? rf_names + offset : "";
}

static uint32_t append(const char* text, uint32_t bytes) {
  uint32_t at = RF_LOAD(&rf_head->names_used);
  do {
    if (bytes > RF_NAME_BYTES - at) {
      rf_set_partial(RF_PARTIAL_NAMES);
      return 0;
    }
  } while (!__atomic_compare_exchange_n(&rf_head->names_used, &at, at + bytes, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
  memcpy(rf_names + at, text, bytes); /* the zero after it exists already: the file is zero-filled */
  return at;
}

/* `known_only`: returns 0 for a text that is not stored yet. */
static uint32_t name(const char* text, int known_only) {
  if (!text || !*text || rf_open_record() != 0) return 0;
  const uint64_t hash = rf_hash_text(text);
  for (uint32_t i = 0; i < BUCKETS; ++i) {
    const uint32_t at = (uint32_t)(hash + i) & (BUCKETS - 1);
    uint64_t seen = __atomic_load_n(&known[at].hash, __ATOMIC_ACQUIRE);
    if (seen == hash) {
      const uint32_t offset = RF_LOAD(&known[at].offset);
      if (offset && strcmp(rf_names + offset, text) == 0) return offset;
      continue;
    }
    if (seen) continue;
    if (known_only) return 0;
    const uint32_t offset = append(text, (uint32_t)strlen(text) + 1);
    if (offset &&
        __atomic_compare_exchange_n(&known[at].hash, &seen, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      RF_STORE(&known[at].offset, offset);
    return offset;
  }
  if (!known_only) rf_set_partial(RF_PARTIAL_NAMES);
  return 0;
}

uint32_t rf_name(const char* text) { return name(text, 0); }

uint32_t rf_comm_name(const char* text) {
  if (!text || rf_open_record() != 0) return 0;
  return name(text, RF_LOAD(&rf_head->names_used) + strlen(text) >= RF_NAME_BYTES / 2);
}
