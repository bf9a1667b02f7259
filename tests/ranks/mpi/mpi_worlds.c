/* mpi_worlds.c: ranks that make many communicators, start their own world, or become another program.
 *
 *   mpi_worlds --how=many_comms|spawn|exec_after|exec_before
 *
 * many_comms: more than a record can hold, one after the other. Then rank 1 is killed while the others wait
 * for it on the last one. exec_after and exec_before: rank 1 becomes `true` after MPI_Finalize, or before a
 * barrier. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void become_true(void) {
  if (rank == 1) execl("/bin/true", "true", (char*)0);
}

static void many_comms(void) {
  MPI_Comm made;
  for (int i = 0; i < 300; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Barrier(made);
  if (rank == 1) raise(SIGKILL);
  MPI_Barrier(made);
}

static void spawn(char* program) {
  MPI_Comm both, all;
  char* arguments[] = {"--how=spawned", NULL};
  MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(both, 0, &all);
  for (int i = 0; i < 3; ++i) MPI_Barrier(all);
  MPI_Comm_free(&all);
  MPI_Comm_free(&both);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void spawned(void) {
  MPI_Comm both, all;
  MPI_Comm_get_parent(&both);
  MPI_Intercomm_merge(both, 1, &all);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Barrier(all);
  MPI_Comm_free(&all);
  MPI_Comm_free(&both);
}

int main(int argc, char** argv) {
  char how[16] = "";
  if (argc != 2 || sscanf(argv[1], "--how=%15s", how) != 1) return 64;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "many_comms") == 0) many_comms();
  if (strcmp(how, "spawn") == 0) spawn(argv[0]);
  if (strcmp(how, "spawned") == 0) spawned();
  if (strcmp(how, "exec_before") == 0) {
    become_true();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (strcmp(how, "exec_after") == 0) become_true();
  return 0;
}
