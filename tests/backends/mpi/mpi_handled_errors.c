/* mpi_handled_errors: rank 1 makes calls that the library refuses; an error handler of the program's own
 * takes the errors. Then all ranks go on. Each rank prints how often the handler ran, and how many calls
 * returned an error. */
#include <mpi.h>
#include <stdio.h>

static int handled;

static void on_error(MPI_Comm* comm, int* code, ...) {
  if (*comm != MPI_COMM_NULL && *code != MPI_SUCCESS) ++handled;
}

static int returned;
static void refused(int rc) { returned += rc != MPI_SUCCESS; }

static void ask_for_what_is_refused(MPI_Comm comm, int size) {
  int one = 1, sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  refused(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, comm));
  refused(MPI_Bcast(&one, 1, MPI_INT, size + 5, comm));
  refused(MPI_Send(&one, -1, MPI_INT, 0, 1, comm));
  refused(MPI_Isend(&one, 1, MPI_DATATYPE_NULL, 0, 1, comm, &request));
  refused(MPI_Recv(&one, 1, MPI_INT, size + 5, 1, comm, MPI_STATUS_IGNORE));
  refused(MPI_Send_init(&one, -1, MPI_INT, 0, 1, comm, &request));
  refused(MPI_Comm_create(comm, MPI_GROUP_NULL, &made));
  refused(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)); /* no call that could fail */
}

int main(int argc, char** argv) {
  int rank, size, right = 0;
  MPI_Comm comm;
  MPI_Errhandler errors;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_create_errhandler(on_error, &errors);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors); /* errors of no communicator go there */
  MPI_Comm_set_errhandler(comm, errors);
  if (rank == 1) ask_for_what_is_refused(comm, size);
  for (int i = 0; i < 3; ++i) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    right += sum == size;
  }
  printf("{\"rank\":%d,\"right\":%d,\"handled\":%d,\"returned\":%d}\n", rank, right, handled, returned);
  MPI_Errhandler_free(&errors);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return right == 3 ? 0 : 1;
}
