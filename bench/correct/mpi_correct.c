/* mpi_correct.c: a correct MPI program made from a seed: a row of features, alike on all ranks.
 *
 * usage: mpi_correct SEED [STEPS [FEATURE]]
 *
 * Rank 0 prints what was used and a sum over all checked results; both depend on seed and number of ranks
 * alone. */
#include "collectives.h"
#include "comms.h"
#include "correct.h"
#include "messages.h"
#include "processes.h"
#include "storage.h"
#include "worlds.h"

/* MPICH 4.0 loses a put between two fences (docs/found.md), and Debian's cannot spawn. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
enum { kFences = 0, kSpawns = 0 };
#else
enum { kFences = 2, kSpawns = 1 };
#endif

typedef void feature(struct world*);
static const struct {
  const char* name;
  feature* use;
  int weight; /* how often it is drawn: what takes long is rare */
} kFeatures[] = {
    {"collectives", collectives, 8},
    {"uneven", uneven_collectives, 4},
    {"nonblocking", nonblocking_collectives, 6},
    {"polled", polled_barrier, 3},
    {"persistent_collective", persistent_collective, 3},
    {"scans", scans, 3},
    {"neighbors", neighbors, 3},
    {"shift", shift, 4},
    {"ring", ring, 4},
    {"pending", pending_messages, 6},
    {"funnel", funnel, 4},
    {"probed", probed, 4},
    {"unknown_partners", unknown_partners, 3},
    {"persistent", persistent_messages, 4},
    {"partitioned", partitioned, 2},
    {"cancelled", cancelled, 2},
    {"to_nobody", to_nobody, 2},
    {"buffered", buffered, 2},
    {"duplicates", duplicates, 4},
    {"many_duplicates", many_duplicates, 1},
    {"parts", parts, 4},
    {"grouped", grouped, 4},
    {"two_sides", two_sides, 4},
    {"attributes", attributes, 3},
    {"own_communicator", own_communicator, 3},
    {"on_one_host", on_one_host, 2},
    {"fence", fence, kFences},
    {"locks", locks, 2},
    {"files", files, 2},
    {"threads", threads, 3},
    {"refused", refused, 4},
    {"handler", handler, 3},
    {"helpers", helpers, 2},
    {"child", child, 2},
    {"other_names", other_names, 4},
    {"long_pause", long_pause, 1},
    {"session", session, 2},
    {"spawn", spawn, kSpawns},
};
enum { kCount = sizeof(kFeatures) / sizeof(kFeatures[0]) };

static int drawn(struct draw* from) {
  int total = 0;
  for (int i = 0; i < kCount; ++i) total += kFeatures[i].weight;
  int at = below(from, total);
  for (int i = 0; i < kCount; ++i)
    if ((at -= kFeatures[i].weight) < 0) return i;
  return 0;
}

static int named(const char* name) {
  for (int i = 0; i < kCount; ++i)
    if (strcmp(kFeatures[i].name, name) == 0) return i;
  fprintf(stderr, "no feature %s\n", name);
  exit(2);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], spawned_word) == 0) return be_spawned();
  struct world w = {.sum = 0};
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int steps = argc > 2 ? atoi(argv[2]) : 30, only = argc > 3 ? named(argv[3]) : -1;
  int used[kCount] = {0};
  w.common.state = seed;
  own_program = argv[0];
  MPI_Init_thread(&argc, &argv, below(&w.common, 2) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &w.level);
  w.comm = MPI_COMM_WORLD;
  MPI_Comm_rank(w.comm, &w.rank);
  MPI_Comm_size(w.comm, &w.size);
  w.own.state = seed * 1000003 + (uint64_t)w.rank;
  if (w.rank == 0) printf("seed %llu\n", (unsigned long long)seed);
  for (int i = 0; i < steps; ++i) {
    const int which = only < 0 ? drawn(&w.common) : only;
    if (getenv("CORRECT_VERBOSE")) fprintf(stderr, "rank %d: %s\n", w.rank, kFeatures[which].name);
    kFeatures[which].use(&w);
    ++used[which];
  }
  /* MPICH's launcher sometimes ends a job whose ranks have spawned and then call exec. */
  const int becomes_another = below(&w.common, 8) == 0 && used[named("spawn")] == 0;
  unsigned long long all = 0, mine = w.sum & 0xffffffffu;
  MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, w.comm);
  if (w.rank == 0) {
    for (int i = 0; i < kCount; ++i)
      if (used[i]) printf("used %s %d\n", kFeatures[i].name, used[i]);
    if (becomes_another) printf("used exec 1\n");
    printf("sum %llu\n", all);
  }
  MPI_Finalize();
  fflush(stdout);
  if (becomes_another) execlp("true", "true", NULL);
  return 0;
}
