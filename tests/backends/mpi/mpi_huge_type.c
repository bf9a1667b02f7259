/* mpi_huge_type: a broadcast of one element of 2200 MiB, from the rank to itself, which moves no byte. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Datatype part, all;
  char one = 0;
  MPI_Init(&argc, &argv);
  MPI_Type_contiguous(1 << 20, MPI_CHAR, &part);
  MPI_Type_contiguous(2200, part, &all);
  MPI_Type_commit(&all);
  MPI_Bcast(&one, 1, all, 0, MPI_COMM_SELF);
  MPI_Type_free(&all);
  MPI_Type_free(&part);
  MPI_Finalize();
  return 0;
}
