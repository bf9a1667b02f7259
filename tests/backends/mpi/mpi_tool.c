/* mpi_tool: a library between a program and MPI, like a profiler. It adds a barrier to each all-reduce. */
#include <mpi.h>

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int result = PMPI_Allreduce(send, receive, count, type, op, comm);
  PMPI_Barrier(comm);
  return result;
}
