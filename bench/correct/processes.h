/* processes.h: threads, handled errors, programs that a rank starts, other names of MPI functions. */
#ifndef RANKFAULT_BENCH_CORRECT_PROCESSES_H
#define RANKFAULT_BENCH_CORRECT_PROCESSES_H

#include <pthread.h>
#include <sys/wait.h>

#include "collectives.h"
#include "correct.h"

struct lane {
  MPI_Comm comm;
  int steps, is_right;
};

static void* sums(void* of) {
  struct lane* const lane = of;
  int mine = 1, sum = 0, size = 0;
  MPI_Comm_size(lane->comm, &size);
  lane->is_right = 1;
  for (int i = 0; i < lane->steps; ++i) {
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, lane->comm);
    lane->is_right &= sum == size;
  }
  return NULL;
}

/* Two threads, each with its own communicator. */
static void threads(struct world* w) {
  struct lane lanes[2];
  pthread_t second;
  if (w->level < MPI_THREAD_MULTIPLE) return;
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(w->comm, &lanes[i].comm);
    lanes[i].steps = 1 + below(&w->common, 20);
  }
  if (pthread_create(&second, NULL, sums, &lanes[1]) != 0) exit(3);
  sums(&lanes[0]);
  pthread_join(second, NULL);
  for (int i = 0; i < 2; ++i) {
    check(w, lanes[i].is_right, "threads");
    MPI_Comm_free(&lanes[i].comm);
  }
}

/* All ranks, or one alone, make a call that the library refuses, and continue. */
static void refused(struct world* w) {
  MPI_Comm copy;
  int number = 1;
  const int who = below(&w->common, 2 * w->size);
  MPI_Comm_dup(w->comm, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  if (who >= w->size || who == w->rank)
    check(w, MPI_Bcast(&number, 1, MPI_INT, w->size + 5, copy) != MPI_SUCCESS, "a refused bcast");
  for (int i = 0; i < 3; ++i) one_collective(w, copy);
  if (who >= w->size || who == w->rank)
    check(w, MPI_Send(&number, -1, MPI_INT, 0, 1, copy) != MPI_SUCCESS, "a refused send");
  one_collective(w, copy);
  MPI_Comm_free(&copy);
}

static int handled;
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
}

/* Makes a call that every library refuses, in a way that does not affect the other ranks. */
static void ask_for_what_is_refused(struct world* w, MPI_Comm comm) {
  int number = 1, other = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (below(&w->common, 6)) {
    case 0:
      MPI_Reduce(&number, &other, 1, MPI_INT, MPI_SUM, w->size + 5, comm);
      return;
    case 1:
      MPI_Allreduce(&number, &other, 1, MPI_INT, MPI_OP_NULL, comm);
      return;
    case 2:
      MPI_Bcast(&number, -1, MPI_INT, 0, comm);
      return;
    case 3:
      MPI_Send(&number, 1, MPI_INT, w->size + 5, 1, comm);
      return;
    case 4:
      MPI_Isend(&number, 1, MPI_DATATYPE_NULL, 0, 1, comm, &request);
      return;
    default:
      MPI_Recv(&number, -1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
      return;
  }
}

static void handler(struct world* w) {
  MPI_Comm copy;
  MPI_Errhandler errors;
  const int before = handled;
  MPI_Comm_dup(w->comm, &copy);
  MPI_Comm_create_errhandler(on_error, &errors);
  MPI_Comm_set_errhandler(copy, errors);
  if (w->rank == below(&w->common, w->size)) {
    ask_for_what_is_refused(w, copy);
    check(w, handled == before + 1, "an error handler");
  } else {
    below(&w->common, 6);
    w->sum = w->sum * 31 + 1;
  }
  one_collective(w, copy);
  MPI_Errhandler_free(&errors);
  MPI_Comm_free(&copy);
}

static void helpers(struct world* w) {
  const int status = system(below(&w->own, 2) ? "true" : "true | cat");
  check(w, status == 0, "a helper");
}

static void child(struct world* w) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  int status = 1;
  check(w, pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "a child");
}

/* Calls the PMPI names, as a program's own profiling layer does. */
static void other_names(struct world* w) {
  int mine = 1, sum = 0;
  const int by_profile = below(&w->own, 2); /* chosen by each rank: both names are the same call */
  if (by_profile)
    PMPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm);
  else
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm);
  check(w, sum == w->size, "PMPI_Allreduce");
}

static void long_pause(struct world* w) {
  if (w->rank == below(&w->common, w->size)) usleep(300000);
  MPI_Barrier(w->comm);
}

#endif
