/* mpi_small_sends: each of two ranks sends four messages to the other, and waits for all of them at once. */
#include <mpi.h>

enum { kMessages = 4 };

int main(int argc, char** argv) {
  int rank, mine = 7, theirs[kMessages];
  MPI_Request q[2 * kMessages];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kMessages; ++i) MPI_Irecv(&theirs[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &q[i]);
  for (int i = 0; i < kMessages; ++i)
    MPI_Isend(&mine, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &q[kMessages + i]);
  MPI_Waitall(2 * kMessages, q, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return theirs[kMessages - 1] == 7 ? 0 : 1;
}
