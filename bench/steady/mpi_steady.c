/* mpi_steady.c: makes calls at a steady rate and sleeps in between, like a training job.
 * Usage: mpi_steady RATE SECONDS: RATE calls per second over all ranks. The ranks wake every 10 ms. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long rate = argc > 1 ? atol(argv[1]) : 10000, seconds = argc > 2 ? atol(argv[2]) : 30;
  const long each = rate / size / 100;
  double mine = 1, sum = 0;
  struct timespec wake;
  clock_gettime(CLOCK_MONOTONIC, &wake);
  for (long tick = 0; tick < seconds * 100; ++tick) {
    /* One call of all ranks keeps them together. Each rank makes the other calls alone. */
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (long i = 1; i < each; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    wake.tv_nsec += 10000000;
    if (wake.tv_nsec >= 1000000000) {
      wake.tv_nsec -= 1000000000;
      ++wake.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
  }
  MPI_Finalize();
  return 0;
}
