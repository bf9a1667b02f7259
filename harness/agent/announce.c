/* announce.c: records facts about the whole process: rank, coverage, and calls that no decoder understood. */
#include <string.h>

#include "harness/agent/agent.h"

/* Also kept outside the record: a forked child that opens its own record already knows its libraries. */
static struct rf_coverage seen[RF_MAX_LIBRARIES];
static uint32_t seen_opaque;

int32_t rf_rank(void) { return rf_is_recording() ? RF_LOAD(&rf_head->rank) : rf_self.rank; }

void rf_announce_again(void) {
  memcpy(rf_head->coverage, seen, sizeof(seen));
  RF_STORE(&rf_head->opaque, seen_opaque);
}

/* Plain Gloo and c10d give ranks of a context. A context with fewer ranks than the environment says is a part
 * of the job and does not give the rank in it. A context with as many ranks gives the rank, whatever the
 * environment says: processes that one rank started inherit its variables. */
static int speaks_of_a_part(uint8_t library) { return library == RF_LIB_GLOO || library == RF_LIB_C10D; }
static int is_a_part(int32_t world_size) { return rf_self.rank >= 0 && world_size < rf_self.world_size; }

static void become_member(uint8_t library, int32_t rank, int32_t world_size) {
  static uint8_t announced_by;
  if (rf_open_record() != 0) return;
  const int first = RF_LOAD(&rf_head->member_ns) == 0;
  if (first) announced_by = library;
  if (first) rf_read_ancestors(rf_head->ancestors);
  if (first && speaks_of_a_part(library) && is_a_part(world_size)) {
    rank = rf_self.rank;
    world_size = rf_self.world_size;
  }
  const int changed = (rank >= 0 && rank != RF_LOAD(&rf_head->rank)) ||
                      (world_size > 0 && world_size != RF_LOAD(&rf_head->world_size));
  if (!first && changed &&
      (library != announced_by || (speaks_of_a_part(library) && rf_has_live_world(library))))
    return;
  if (rank >= 0) RF_STORE(&rf_head->rank, rank);
  if (world_size > 0) RF_STORE(&rf_head->world_size, world_size);
  if (first)
    RF_STORE(&rf_head->member_ns, rf_now());
  else if (changed)
    __atomic_add_fetch(&rf_head->generation, 1, __ATOMIC_RELEASE);
  if (RF_LOAD(&rf_head->stage) != RF_STAGE_MEMBER) RF_STORE(&rf_head->stage, (uint32_t)RF_STAGE_MEMBER);
}

void rf_become_member(uint8_t library, int32_t rank, int32_t world_size) {
  if (library == RF_LIB_MPI) rf_threads_before_mpi();
  become_member(library, rank, world_size);
  rf_clean_stack();
}

void rf_spawned(void) {
  if (rf_open_header() == 0) RF_STORE(&rf_head->spawned, 1u);
  rf_clean_stack();
}

void rf_finalized(uint8_t library) {
  (void)library;
  rf_set_stage(RF_STAGE_FINALIZED);
}

void rf_coverage(uint8_t library, const char* decoder, uint32_t version, enum rf_hook hook,
                 const char* reason) {
  for (uint32_t i = 0; i < RF_MAX_LIBRARIES; ++i) {
    struct rf_coverage* c = &seen[i];
    if (c->library != RF_LIB_NONE && c->library != library) continue;
    strncpy(c->decoder, decoder ? decoder : "", sizeof(c->decoder) - 1);
    strncpy(c->reason, reason ? reason : "", sizeof(c->reason) - 1);
    c->version = version;
    c->hook = (uint8_t)hook;
    RF_STORE(&c->library, library);
    break;
  }
  if (rf_is_recording()) memcpy(rf_head->coverage, seen, sizeof(seen));
}

static int is_covered(uint8_t library) {
  for (uint32_t i = 0; i < RF_MAX_LIBRARIES; ++i)
    if (seen[i].library == library) return 1;
  return 0;
}

void rf_cover_unseen(void) {
  if (!is_covered(RF_LIB_NCCL) && rf_is_defined("ncclGetVersion"))
    rf_coverage(RF_LIB_NCCL, NULL, 0, RF_HOOK_NONE, "no call of it was seen");
}

void rf_opaque(uint32_t bits) {
  __atomic_fetch_or(&seen_opaque, bits, __ATOMIC_RELEASE);
  if (rf_is_recording()) __atomic_fetch_or(&rf_head->opaque, bits, __ATOMIC_RELEASE);
}

void rf_thread_multiple(int yes) {
  if (rf_open_header() != 0) return;
  rf_threads_after_mpi();
  if (yes) RF_STORE(&rf_head->thread_multiple, 1u); /* one library that allows it is enough */
}
