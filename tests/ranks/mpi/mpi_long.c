/* mpi_long.c: very many calls without pause, a thousand at a time between barriers of all ranks. Then rank 1
 * kills itself while the others wait for it.
 *
 *   mpi_long CALLS FOLDER [PAUSE_US]
 *
 * CALLS: made by each rank. FOLDER/calls: how many rank 0 has made, as text. FOLDER/killed: when rank 1
 * killed itself (CLOCK_MONOTONIC, ns). With PAUSE_US a sleep follows each thousand, so that the tool reads
 * all of them. FOLDER "-": no rank is killed. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void say(const char* folder, const char* name, long long number) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "%lld\n", number);
  fclose(file);
}

static void die(const char* folder) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  say(folder, "killed", now.tv_sec * 1000000000ll + now.tv_nsec);
  raise(SIGKILL);
}

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const long calls = atol(argv[1]);
  const char* folder = argv[2];
  const unsigned pause = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
  const int nobody_dies = folder[0] == '-';
  int rank, in = 1, out;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long done = 0; done < calls; done += 1000) {
    for (int i = 0; i < 1000; ++i) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    if (done % 10000 == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (pause) usleep(pause);
    if (rank == 0 && !nobody_dies && done % 1000000 == 0) say(folder, "calls", done + 1000);
  }
  if (rank == 0 && !nobody_dies) say(folder, "calls", calls);
  if (rank == 1 && !nobody_dies) die(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
