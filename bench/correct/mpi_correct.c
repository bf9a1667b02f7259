/* mpi_correct.c: correct MPI programs made from seeds. Each is a row of features, the same on all ranks.
 *
 * usage: mpi_correct SEED [PROGRAMS [STEPS [FEATURE]]]
 *
 * The programs have the seeds SEED, SEED + 1 ... and run in one job, one after the other. Rank 0 prints what
 * each of them used, and a sum over its checked results. Both depend on the arguments and on the number of
 * ranks alone. */
#include "collectives.h"
#include "comms.h"
#include "correct.h"
#include "messages.h"
#include "processes.h"
#include "storage.h"
#include "worlds.h"

/* Features that a library cannot do itself (docs/found.md): MPICH 4.0 loses a put between two fences, and
 * Debian's build of it cannot spawn. Open MPI 4 may hang in a spawn on a busy machine. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
enum { kFences = 0, kSpawns = 0 };
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
enum { kFences = 8, kSpawns = 0 };
#else
enum { kFences = 8, kSpawns = 4 };
#endif
/* The launcher of MPICH 5.0 kills a job whose ranks call exec after MPI_Finalize. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
enum { kMayExec = 0 };
#else
enum { kMayExec = 1 };
#endif

typedef void feature(struct world*);
static const struct {
  const char* name;
  feature* use;
  int weight; /* how often it is drawn: what takes long is rare */
} kFeatures[] = {
    {"collectives", collectives, 32},
    {"uneven", uneven_collectives, 16},
    {"nonblocking", nonblocking_collectives, 24},
    {"polled", polled_barrier, 12},
    {"persistent_collective", persistent_collective, 12},
    {"scans", scans, 12},
    {"neighbors", neighbors, 12},
    {"shift", shift, 16},
    {"ring", ring, 16},
    {"pending", pending_messages, 24},
    {"funnel", funnel, 16},
    {"probed", probed, 16},
    {"unknown_partners", unknown_partners, 12},
    {"persistent", persistent_messages, 16},
    {"partitioned", partitioned, 8},
    {"cancelled", cancelled, 8},
    {"to_nobody", to_nobody, 8},
    {"buffered", buffered, 8},
    {"duplicates", duplicates, 16},
    {"many_duplicates", many_duplicates, 1},
    {"parts", parts, 16},
    {"grouped", grouped, 16},
    {"two_sides", two_sides, 16},
    {"attributes", attributes, 12},
    {"own_communicator", own_communicator, 12},
    {"on_one_host", on_one_host, 8},
    {"fence", fence, kFences},
    {"locks", locks, 8},
    {"files", files, 8},
    {"threads", threads, 12},
    {"refused", refused, 16},
    {"handler", handler, 12},
    {"helpers", helpers, 8},
    {"child", child, 8},
    {"other_names", other_names, 16},
    {"long_pause", long_pause, 2},
    {"session", session, 8},
    {"spawn", spawn, kSpawns},
};
enum { kCount = sizeof(kFeatures) / sizeof(kFeatures[0]) };

static int named(const char* name) {
  for (int i = 0; i < kCount; ++i)
    if (strcmp(kFeatures[i].name, name) == 0) return i;
  fprintf(stderr, "no feature %s\n", name);
  exit(2);
}

static int drawn(struct draw* from) {
  int total = 0;
  for (int i = 0; i < kCount; ++i) total += kFeatures[i].weight;
  int at = below(from, total);
  for (int i = 0; i < kCount; ++i)
    if ((at -= kFeatures[i].weight) < 0) return i;
  return 0;
}

static void run_program(struct world* w, uint64_t seed, int steps, int only) {
  int used[kCount] = {0};
  w->common.state = seed;
  w->own.state = seed * 1000003 + (uint64_t)w->rank;
  w->sum = 0;
  if (w->rank == 0) printf("seed %llu\n", (unsigned long long)seed);
  for (int i = 0; i < steps; ++i) {
    const int which = only < 0 ? drawn(&w->common) : only;
    if (getenv("CORRECT_VERBOSE")) fprintf(stderr, "rank %d: %s\n", w->rank, kFeatures[which].name);
    kFeatures[which].use(w);
    ++used[which];
  }
  unsigned long long all = 0, mine = w->sum & 0xffffffffu;
  MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, w->comm);
  if (w->rank != 0) return;
  for (int i = 0; i < kCount; ++i)
    if (used[i]) printf("used %s %d\n", kFeatures[i].name, used[i]);
  printf("sum %llu\n", all);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], spawned_word) == 0) return be_spawned();
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int programs = argc > 2 ? atoi(argv[2]) : 1, steps = argc > 3 ? atoi(argv[3]) : 10;
  const int only_exec = argc > 4 && strcmp(argv[4], "exec") == 0;
  const int only = argc > 4 && !only_exec ? named(argv[4]) : -1;
  struct draw of_job = {.state = ~seed};
  struct world w = {.sum = 0};
  own_program = argv[0];
  const int ends_by_exec = kMayExec && (below(&of_job, 8) == 0 || only_exec);
  MPI_Init_thread(&argc, &argv, below(&of_job, 2) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &w.level);
  w.comm = MPI_COMM_WORLD;
  MPI_Comm_rank(w.comm, &w.rank);
  MPI_Comm_size(w.comm, &w.size);
  for (int i = 0; i < programs; ++i) run_program(&w, seed + (uint64_t)i, steps, only);
  if (w.rank == 0 && ends_by_exec) printf("used exec 1\n");
  MPI_Finalize();
  fflush(stdout);
  if (ends_by_exec) execlp("true", "true", NULL);
  return 0;
}
