/* mpi_truncated: two ranks exchange messages that are longer than their receivers expect. One wait covers
 * the send and the receive, and only the receive fails. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, kind, mine[2] = {1, 2}, theirs = 0;
  MPI_Request q[2];
  MPI_Status statuses[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(&theirs, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(mine, 2, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &q[1]);
  MPI_Error_class(MPI_Waitall(2, q, statuses), &kind);
  MPI_Wait(&q[1], MPI_STATUS_IGNORE);
  MPI_Finalize();
  return kind == MPI_ERR_IN_STATUS ? 0 : 1;
}
