/* mpi_steps.c: an ordinary step loop: gradients, a flag, now and then a broadcast, a barrier at the end.
 *
 *   mpi_steps [--steps=N] [--sleep-us=N] [--seed=N] [--no-flag]
 *
 * Without the flag all all-reduces are equal: a missing one shifts the rest without an error. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_counts.h"

/* The broadcast is small enough to be sent before its receiver comes: a leaf may be missing from it. */
enum { kElements = 1024, kSettings = 64 };

struct options {
  long steps, sleep_us, seed;
  int flag;
};

static struct options parse(int argc, char** argv) {
  struct options o = {20, 0, 1, 1};
  for (int i = 1; i < argc; ++i) {
    if (sscanf(argv[i], "--steps=%ld", &o.steps) == 1 ||
        sscanf(argv[i], "--sleep-us=%ld", &o.sleep_us) == 1 || sscanf(argv[i], "--seed=%ld", &o.seed) == 1)
      continue;
    if (strcmp(argv[i], "--no-flag") == 0) {
      o.flag = 0;
      continue;
    }
    fprintf(stderr, "mpi_steps: unknown argument %s\n", argv[i]);
    exit(64);
  }
  return o;
}

static double step(const struct options* o, long number, int rank) {
  static float gradient[kElements], sum[kElements], settings[kSettings * 2];
  int bad = 0, anybody_bad = 0;
  for (int i = 0; i < kElements; ++i) gradient[i] = (float)((o->seed * 31 + number * 7 + rank + i) % 97);
  count("all_reduce");
  MPI_Allreduce(gradient, sum, kElements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (o->flag) {
    count("all_reduce");
    MPI_Allreduce(&bad, &anybody_bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (number % 5 == 0) {
    count("broadcast");
    MPI_Bcast(settings, kSettings, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
  if (o->sleep_us) usleep((useconds_t)o->sleep_us);
  return anybody_bad ? -1 : sum[number % kElements];
}

int main(int argc, char** argv) {
  const struct options o = parse(argc, argv);
  int rank = 0;
  double checksum = 0;
  count("init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long number = 0; number < o.steps; ++number) checksum += step(&o, number, rank);
  count("barrier");
  MPI_Barrier(MPI_COMM_WORLD);
  count("finalize");
  MPI_Finalize();
  print_counts(rank, "mpi_steps", checksum);
  return 0;
}
