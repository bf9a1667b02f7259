/* worlds.h: processes besides MPI_COMM_WORLD: those of a session, those that the ranks start, and the
 * program that a rank executes. */
#ifndef RANKFAULT_BENCH_CORRECT_WORLDS_H
#define RANKFAULT_BENCH_CORRECT_WORLDS_H

#include "correct.h"

static char* own_program;
static char spawned_word[] = "--spawned";

static int sum_over(MPI_Comm comm, int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

#if MPI_VERSION >= 4
/* Without a level, MPICH 5.0.2 reads a variable that it has not set (docs/internals/agent.md). */
static void session(struct world* w) {
  MPI_Session one;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level",
               w->level == MPI_THREAD_MULTIPLE ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SINGLE");
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &one);
  MPI_Group_from_session_pset(one, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "correct", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  for (int i = 0; i < 3; ++i) check(w, sum_over(comm, 1) == w->size, "a session");
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&one);
  MPI_Info_free(&info);
}
#else
static void session(struct world* w) { check(w, 1, "no session"); }
#endif

/* What a spawned process does. */
static int be_spawned(void) {
  MPI_Comm parent, all;
  MPI_Init(NULL, NULL);
  MPI_Comm_get_parent(&parent);
  MPI_Intercomm_merge(parent, 1, &all);
  sum_over(all, 100);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static void spawn(struct world* w) {
  char* words[] = {spawned_word, NULL};
  MPI_Comm started, all;
  MPI_Comm_spawn(own_program, words, 1, MPI_INFO_NULL, 0, w->comm, &started, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(started, 0, &all);
  check(w, sum_over(all, 1) == w->size + 100, "a spawned process");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&started);
}

#endif
