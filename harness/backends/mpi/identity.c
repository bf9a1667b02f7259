/* identity.c: one number for a communicator, equal on all its members, without a message: hash(parent, k of
 * the creating call on the parent, sorted world ranks). The world's number is a fixed text mixed with the
 * job's name, which the launcher gives equally to all its ranks. */
#include <stdlib.h>

#include "decoder.h"
#include "harness/agent/lock.h"

static MPI_Group world_group;
static int world_known;

static int by_rank(const void* a, const void* b) {
  const int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
  return x < y ? -1 : x > y;
}

static uint64_t job; /* 0: unknown, and then nothing has an identity */

/* Returns the world ranks of a group in the group's order; the caller frees them. -1 for members of other
 * jobs. */
static int32_t* world_ranks_of(MPI_Group group, int* size) {
  if (rf_mpi.group_size(group, size) != RF_MPI_SUCCESS || *size <= 0) return NULL;
  int* const own = malloc((size_t)*size * 2 * sizeof(int));
  if (!own) return NULL;
  int* const world = own + *size;
  for (int i = 0; i < *size; ++i) own[i] = i;
  if (rf_mpi.group_translate_ranks(group, *size, own, world_group, world) != RF_MPI_SUCCESS) {
    free(own);
    return NULL;
  }
  for (int i = 0; i < *size; ++i) own[i] = world[i] == RF_MPI_UNDEFINED ? -1 : world[i];
  return own;
}

static uint64_t hash_of_members(const int32_t* ranks, int size, int* foreign) {
  int32_t* const sorted = malloc((size_t)size * sizeof(int32_t));
  if (!sorted) return 0;
  for (int i = 0; i < size; ++i) sorted[i] = ranks[i];
  qsort(sorted, (size_t)size, sizeof(int32_t), by_rank);
  *foreign |= sorted[0] < 0;
  const uint64_t hash = rf_hash_bytes(0, sorted, (size_t)size * sizeof(int32_t));
  free(sorted);
  return hash;
}

#define TIMES_UNKNOWN UINT64_MAX

/* Returns how often this id was made before, for creations with the same k. */
static uint64_t times_seen(uint64_t id) {
  enum { kIds = 4096 };
  static struct rf_lock guard;
  static struct { uint64_t id, times; } seen[kIds];
  uint64_t times = TIMES_UNKNOWN;
  if (rf_lock_take(&guard) != 0) return TIMES_UNKNOWN;
  for (unsigned i = 0; i < kIds; ++i) {
    const unsigned at = (unsigned)(id + i) % kIds;
    if (seen[at].id != 0 && seen[at].id != id) continue;
    seen[at].id = id;
    times = seen[at].times++;
    break;
  }
  rf_lock_give(&guard);
  return times;
}

struct creation {
  const char* name;
  uint64_t id; /* given only for the world and self */
  uint64_t parent, parent_seq;
  int by_tag;          /* parent_seq is not a k: only the new members made it */
  int parent_is_inter; /* then both sides have the same parent */
};

/* Both sides of an intercommunicator must compute one number. */
static void mix_remote(MPI_Comm comm, uint64_t words[4], int parent_is_inter, int* foreign) {
  MPI_Group remote = RF_NO_HANDLE;
  int size = 0;
  if (rf_mpi.comm_remote_group(comm, &remote) != RF_MPI_SUCCESS) return;
  int32_t* const others = world_ranks_of(remote, &size);
  const uint64_t ours = words[2], theirs = others ? hash_of_members(others, size, foreign) : 0;
  rf_mpi.group_free(&remote);
  free(others);
  if (!parent_is_inter) words[0] = job; /* each side has its own parent */
  words[2] = ours < theirs ? ours : theirs;
  words[3] = ours < theirs ? theirs : ours;
}

static void add(MPI_Comm comm, struct creation how) {
  struct rf_comm_info info = {
      .id = how.id, .parent = how.parent, .parent_seq = how.parent_seq, .name = how.name};
  MPI_Group group = RF_NO_HANDLE;
  int inter = 0, size = 0, rank = -1, foreign = 0;
  if (rf_mpi.comm_test_inter(comm, &inter) != RF_MPI_SUCCESS ||
      rf_mpi.comm_group(comm, &group) != RF_MPI_SUCCESS)
    return;
  rf_mpi.comm_rank(comm, &rank);
  int32_t* const ranks = world_ranks_of(group, &size);
  rf_mpi.group_free(&group);
  if (!ranks) return;
  info.members_hash = hash_of_members(ranks, size, &foreign);
  uint64_t words[4] = {how.parent, how.parent_seq, info.members_hash, 0};
  if (inter) mix_remote(comm, words, how.parent_is_inter, &foreign);
  if (info.id == 0) info.id = rf_hash_bytes(0, words, sizeof(words));
  const uint64_t before = how.by_tag ? times_seen(info.id) : 0;
  if (before == TIMES_UNKNOWN) rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  if (before) info.id = rf_hash_bytes(info.id, &before, sizeof(before));
  info.identity =
      job == 0 || foreign || info.members_hash == 0 || before == TIMES_UNKNOWN ? RF_ID_NONE : RF_ID_DERIVED;
  info.handle = RF_HANDLE_BITS(comm);
  info.library = RF_LIB_MPI;
  info.size = (uint32_t)size;
  info.rank = rank;
  info.flags = RF_COMM_POSITIONAL | (inter ? RF_COMM_INTER : 0u);
  info.world_ranks = ranks;
  rf_core->comm_add(&info);
  free(ranks);
}

void rf_world_made(void) {
  if (__atomic_exchange_n(&world_known, 1, __ATOMIC_ACQ_REL)) return;
  const char* const names[2] = {"MPI_COMM_WORLD", "MPI_COMM_SELF"};
  MPI_Comm const handles[2] = {rf_mpi.world, rf_mpi.self};
  int rank = -1, size = -1, level = 0;
  rf_mpi.comm_group(rf_mpi.world, &world_group);
  rf_mpi.comm_rank(rf_mpi.world, &rank);
  rf_mpi.comm_size(rf_mpi.world, &size);
  job = rf_abi_job();
  if (job == 0) rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  rf_types_load();
  MPI_Comm parent = rf_mpi.comm_null;
  if (rf_mpi.comm_get_parent(&parent) == RF_MPI_SUCCESS && parent != rf_mpi.comm_null) rf_core->spawned();
  rf_core->become_member(RF_LIB_MPI, rank, size);
  if (rf_mpi.query_thread(&level) == RF_MPI_SUCCESS)
    rf_core->thread_multiple(level == RF_MPI_THREAD_MULTIPLE);
  for (int i = 0; i < 2; ++i) {
    const uint64_t words[3] = {rf_hash_text(names[i]), job, i == 0 ? 0 : (uint64_t)rank};
    add(handles[i], (struct creation){.id = rf_hash_bytes(0, words, sizeof(words)), .name = names[i]});
  }
}

void rf_world_released(void) {
  if (world_group) rf_mpi.group_free(&world_group);
  world_group = RF_NO_HANDLE;
}

uint32_t rf_comm_index(MPI_Comm comm) {
  if (!comm || comm == rf_mpi.comm_null) return RF_NO_COMM;
  const uint32_t index = rf_core->comm_find(RF_LIB_MPI, RF_HANDLE_BITS(comm), 0);
  if (index != RF_NO_COMM || __atomic_load_n(&world_known, __ATOMIC_ACQUIRE)) return index;
  /* Initialised in a way that is not wrapped (PMPI_Init, a session): the first call detects it. */
  int yes = 0;
  if (rf_mpi.initialized(&yes) != RF_MPI_SUCCESS || !yes) return RF_NO_COMM;
  rf_world_made();
  return rf_core->comm_find(RF_LIB_MPI, RF_HANDLE_BITS(comm), 0);
}

void rf_comm_made(MPI_Comm made, uint32_t parent, uint64_t parent_seq) {
  const struct rf_comm* const from = parent == RF_NO_COMM ? NULL : rf_core->comm_get(parent);
  if (!made || made == rf_mpi.comm_null) return;
  /* An unknown parent gives no identity; calls on the child then name no communicator. */
  if (!from || from->identity == RF_ID_NONE) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return;
  }
  add(made, (struct creation){.parent = from->id,
                              .parent_seq = parent_seq,
                              .parent_is_inter = (from->flags & RF_COMM_INTER) != 0});
}

/* The order of a persistent collective's starts, over the members of the communicator on which it was
 * prepared. Handles of requests and of communicators may be equal; the tag distinguishes them. */
uint32_t rf_stream_made(MPI_Request request, uint32_t parent, uint64_t parent_seq) {
  const struct rf_comm* const on = parent == RF_NO_COMM ? NULL : rf_core->comm_get(parent);
  if (!on || on->identity == RF_ID_NONE) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return RF_NO_COMM;
  }
  const uint64_t words[3] = {on->id, parent_seq, rf_hash_text("persistent")};
  const struct rf_comm_info info = {
      .id = rf_hash_bytes(0, words, sizeof(words)),
      .parent = on->id,
      .parent_seq = parent_seq,
      .members_hash = on->members_hash,
      .handle = RF_HANDLE_BITS(request),
      .tag = 1,
      .library = RF_LIB_MPI,
      .identity = on->identity,
      .size = on->size,
      .rank = on->rank,
      .flags = RF_COMM_POSITIONAL | RF_COMM_STREAM | (on->flags & RF_COMM_INTER)};
  return rf_core->comm_add(&info);
}

/* For a creation in which only the new members take part: the caller's tag replaces k and differs from every
 * k. */
void rf_comm_made_by_tag(MPI_Comm made, uint32_t parent, int tag) {
  const struct rf_comm* const from = parent == RF_NO_COMM ? NULL : rf_core->comm_get(parent);
  if (!made || made == rf_mpi.comm_null) return;
  add(made,
      (struct creation){
          .parent = from ? from->id : 0, .parent_seq = 0x7461670000000000ull | (uint32_t)tag, .by_tag = 1});
}
