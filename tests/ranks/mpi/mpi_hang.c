/* mpi_hang.c: a few steps, then a barrier that one rank never enters.
 *
 *   mpi_hang --how=sleep|spin|none [--rank=R] [--seconds=N] [--secret WORD]
 *
 * The rank sleeps or computes without end, or (none) comes too. --seconds: only for that time. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile double work = 1;

static void spin(time_t until) {
  while (until == 0 || time(NULL) < until) work = work * 1.0000001;
}

int main(int argc, char** argv) {
  char how[16] = "none";
  int late_rank = 1, seconds = 0, rank = 0;
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], "--secret") == 0 && i + 1 < argc) /* only visible in the command line */
      ++i;
    else if (sscanf(argv[i], "--how=%15s", how) != 1 && sscanf(argv[i], "--rank=%d", &late_rank) != 1 &&
             sscanf(argv[i], "--seconds=%d", &seconds) != 1) {
      fprintf(stderr, "mpi_hang: unknown argument %s\n", argv[i]);
      return 64;
    }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float mine[16] = {0}, sum[16] = {0};
  for (int step = 0; step < 3; ++step) MPI_Allreduce(mine, sum, 16, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == late_rank && strcmp(how, "sleep") == 0) do
      sleep(seconds ? (unsigned)seconds : 3600);
    while (seconds == 0);
  if (rank == late_rank && strcmp(how, "spin") == 0) spin(seconds ? time(NULL) + seconds : 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
