/* experts.c: a mixture of experts over MPI: the ranks send tokens to the ranks of their experts and back.
 *
 *   mpirun -np 4 experts [--steps=N] [--guess-from=STEP]
 *
 * Every rank knows how many tokens it sends to each other rank. An all-to-all of these counts gives it the
 * counts that it receives. From step --guess-from on, the ranks do not exchange the counts: each rank assumes
 * that all ranks send what rank 0 would send. This holds until rank 1 has more tokens for rank 2 than the
 * others have. The program has no code for rankfault. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostRanks = 64, kMostTokens = 64, kWidth = 8 };

static int rank, size, steps = 10, guess_from = 1 << 30, crowded_step = 6;

static int tokens_for(int sender, int expert, int step) {
  const int usual = 4 + (expert + step) % 3;
  return step == crowded_step && sender == 1 && expert == 2 ? usual + 5 : usual;
}

static void agree_on_counts(int step, int* send, int* receive) {
  for (int other = 0; other < size; ++other) {
    send[other] = tokens_for(rank, other, step);
    receive[other] = tokens_for(0, rank, step);
  }
  if (step < guess_from) MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
}

static void places(int* counts, int* offsets) {
  int at = 0;
  for (int other = 0; other < size; ++other) {
    counts[other] *= kWidth;
    offsets[other] = at;
    at += counts[other];
  }
}

static float exchange(int step) {
  static float here[kMostRanks * kMostTokens * kWidth], there[kMostRanks * kMostTokens * kWidth];
  int send[kMostRanks], receive[kMostRanks], from[kMostRanks], to[kMostRanks];
  agree_on_counts(step, send, receive);
  places(send, from);
  places(receive, to);
  for (int i = 0; i < kMostRanks * kMostTokens * kWidth; ++i) here[i] = (float)(rank + i % 7);
  MPI_Alltoallv(here, send, from, MPI_FLOAT, there, receive, to, MPI_FLOAT, MPI_COMM_WORLD);
  MPI_Alltoallv(there, receive, to, MPI_FLOAT, here, send, from, MPI_FLOAT, MPI_COMM_WORLD);
  return here[0];
}

int main(int argc, char** argv) {
  float sum = 0;
  for (int i = 1; i < argc; ++i)
    if (sscanf(argv[i], "--steps=%d", &steps) != 1 && sscanf(argv[i], "--guess-from=%d", &guess_from) != 1) {
      fprintf(stderr, "experts: unknown argument %s\n", argv[i]);
      return 64;
    }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 64);
  for (int step = 1; step <= steps; ++step) sum += exchange(step);
  MPI_Finalize();
  printf("rank %d: %d steps, sum %g\n", rank, steps, sum);
  return 0;
}
