/* shrink.c: training over MPI that continues without a rank that died, by ULFM: revoke, shrink, agree.
 *
 *   mpirun --with-ft ulfm -np 4 shrink [--steps=N] [--abort]
 *
 * In each step, the live ranks share the samples of one batch and sum its gradients. The sums are of
 * integers, so the weights do not depend on which rank computed which sample. A step is committed when all
 * ranks agree that they have its sum. --abort: the first error ends the job. The program has no code for
 * rankfault. */
#include <mpi.h>
/* needs mpi.h first */
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatch = 96 };

static MPI_Comm world;
static int name, rank, size, steps = 20, aborts = 0; /* name: the rank at the start, for the log */

static void look_around(void) {
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
}

/* To revoke the old world also ends the calls of the other ranks on it. To shrink it waits for all live
 * ranks. */
static void go_on_without_the_dead(int step) {
  MPI_Comm survivors;
  if (aborts) MPI_Abort(MPI_COMM_WORLD, 3);
  MPIX_Comm_revoke(world);
  if (MPIX_Comm_shrink(world, &survivors) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 4);
  world = survivors;
  look_around();
  printf("rank %d continues at step %d with %d ranks\n", name, step, size);
  fflush(stdout);
}

static long gradients(int step) {
  long sum = 0;
  for (int sample = rank; sample < kBatch; sample += size) sum += (sample * 37 + step * 11) % 101 - 50;
  return sum;
}

/* Returns 1 if every rank has the step's sum, and otherwise 0, with the same answer on all ranks. The
 * all-reduce alone may fail on some ranks only. */
static int sum_of_all(int step, long* sum) {
  const long own = gradients(step);
  int there = MPI_Allreduce(&own, sum, 1, MPI_LONG, MPI_SUM, world) == MPI_SUCCESS;
  MPIX_Comm_agree(world, &there); /* all ranks get the same flag; the returned status may differ */
  return there;
}

int main(int argc, char** argv) {
  unsigned long weights = 1;
  for (int i = 1; i < argc; ++i) {
    aborts |= strcmp(argv[i], "--abort") == 0;
    if (strcmp(argv[i], "--abort") != 0 && sscanf(argv[i], "--steps=%d", &steps) != 1) {
      fprintf(stderr, "shrink: unknown argument %s\n", argv[i]);
      return 64;
    }
  }
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  look_around();
  name = rank;
  for (int step = 1; step <= steps;) {
    long sum = 0;
    if (!sum_of_all(step, &sum)) {
      go_on_without_the_dead(step);
      continue;
    }
    weights = weights * 31 + (unsigned long)sum;
    printf("rank %d committed step %d\n", name, step++);
    fflush(stdout);
  }
  printf("rank %d weights %lu\n", name, weights);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
