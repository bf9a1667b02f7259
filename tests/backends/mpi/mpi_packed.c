/* mpi_packed: one broadcast that the root sends as packed bytes and the others receive as numbers. */
#include <mpi.h>

int main(int argc, char** argv) {
  int values[10], rank, at = 0;
  char packed[sizeof values];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) values[i] = rank == 0 ? i : -1;
  if (rank == 0) {
    MPI_Pack(values, 10, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
    MPI_Bcast(packed, at, MPI_PACKED, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(values, 10, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return values[9] == 9 ? 0 : 1;
}
