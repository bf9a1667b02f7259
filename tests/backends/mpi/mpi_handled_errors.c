/* mpi_handled_errors: rank 1 makes calls that the library refuses, and the program's own error handler
 * takes the errors. Then all ranks continue. Each rank prints how often the handler ran, and how many
 * calls returned an error. With an argument, each rank instead makes a call of MPI_Startall that the
 * library refuses. */
#include <mpi.h>
#include <stdio.h>

static int handled;

static void on_error(MPI_Comm* comm, int* code, ...) {
  int any;
  if (*comm != MPI_COMM_NULL && *code != MPI_SUCCESS) ++handled;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
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
  refused(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)); /* not a call that can fail */
}

/* Of three receives one is already active when all are started: the library starts none. Then all three
 * end well. */
static void start_one_twice(MPI_Comm comm, int rank) {
  int got[3], sent[3] = {1, 2, 3};
  MPI_Request q[3];
  for (int i = 0; i < 3; ++i) MPI_Recv_init(&got[i], 1, MPI_INT, rank, i, comm, &q[i]);
  MPI_Start(&q[1]);
  refused(MPI_Startall(3, q));
  MPI_Send(&sent[1], 1, MPI_INT, rank, 1, comm);
  MPI_Wait(&q[1], MPI_STATUS_IGNORE);
  refused(MPI_Start(&q[0]));
  refused(MPI_Start(&q[2]));
  for (int i = 0; i < 3; i += 2) MPI_Send(&sent[i], 1, MPI_INT, rank, i, comm);
  MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Request_free(&q[i]);
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
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors); /* errors without a communicator go there */
  MPI_Comm_set_errhandler(comm, errors);
  if (argc > 1)
    start_one_twice(comm, rank);
  else if (rank == 1)
    ask_for_what_is_refused(comm, size);
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
