/* mpi_callbacks.c: correct programs with calls that a plain reader does not see.
 *
 *   mpi_callbacks --how=finalize|free|persistent [--ms=1000]
 *
 * They communicate inside another call: rank 0 enters the others' barrier within MPI_Finalize, where an
 * attribute of MPI_COMM_SELF is deleted, or within MPI_Comm_free. Or on a communicator whose handle is
 * freed: rank 0 starts a send that it prepared before. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "../pauses.h"

static int rank, ms = 1000;

static int come_late(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  if (rank == 0) sleep_ms(ms);
  return MPI_Barrier(MPI_COMM_WORLD);
}

static void call_back_from(MPI_Comm comm) {
  int key = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, come_late, &key, NULL);
  MPI_Comm_set_attr(comm, key, &ms);
}

static void send_after_free(void) {
  MPI_Comm beside;
  int word = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &beside);
  if (rank == 0) {
    MPI_Request request;
    MPI_Send_init(&word, 1, MPI_INT, 1, 0, beside, &request);
    MPI_Comm_free(&beside);
    sleep_ms(ms);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return;
  }
  if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 0, beside, MPI_STATUS_IGNORE);
  MPI_Comm_free(&beside);
}

int main(int argc, char** argv) {
  char how[16] = "finalize";
  for (int i = 1; i < argc; ++i)
    if (sscanf(argv[i], "--how=%15s", how) != 1 && sscanf(argv[i], "--ms=%d", &ms) != 1) return 64;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(how, "finalize") == 0) {
    if (rank == 0) call_back_from(MPI_COMM_SELF);
    if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(how, "free") == 0) {
    MPI_Comm beside;
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    if (rank == 0) call_back_from(beside);
    MPI_Comm_free(&beside);
    if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) sleep_ms(ms);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    send_after_free();
  }
  MPI_Finalize();
  return 0;
}
