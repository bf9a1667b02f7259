/* mpi_sessions: without MPI_Init: a session, a communicator of its process set, and all-reduces on it.
 * Each rank prints how many gave the right sum. From the fifth on MPICH 5 uses other code, over shared
 * memory. */
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 20 };

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, size, right = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "org.rankfault.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < CALLS; ++i) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    right += sum == size;
  }
  printf("{\"rank\":%d,\"right\":%d}\n", rank, right);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return right == CALLS ? 0 : 1;
}
