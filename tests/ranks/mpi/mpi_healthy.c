/* mpi_healthy.c: correct MPI programs in which ranks wait for long. They must not be called hung.
 *
 *   mpi_healthy --how=WORD [--ms=1000]
 *
 *   evaluation, checkpoint  rank 0 computes, or writes to a slow disk, while the others wait
 *   growing     each pause takes twice as long         first_step  the first step is compiled: skew
 *   subgroups   one half works, the other waits        stopped     rank 1 is stopped for a while
 *   test, iprobe  a loop asks for a message            any_source  rank 0 serves whichever rank comes
 *   threads     a second thread waits for messages     overlap     a long computation during an iallreduce
 *   crowded     a neighbour takes the cores            requests    waits for one of several
 *   ring        small plain sends in a circle, and large ones along a chain whose end comes late, while a
 *               neighbour takes the cores and rank 1 is stopped for a while */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../pauses.h"

static int rank, size, ms = 1000;
static const MPI_Comm* listened;

static void sum(MPI_Comm comm) {
  float mine[16] = {0}, all[16];
  MPI_Allreduce(mine, all, 16, MPI_FLOAT, MPI_SUM, comm);
}

static void pause_on_zero(void (*work)(int)) {
  for (int step = 0; step < 4; ++step) {
    sum(MPI_COMM_WORLD);
    if (step % 2 == 1 && rank == 0) work(ms);
  }
}

static void growing(void) {
  for (int part = ms / 8; part <= ms; part *= 2) {
    sum(MPI_COMM_WORLD);
    if (rank == 0) sleep_ms(part);
  }
}

static void first_step(void) {
  compute_ms(ms * rank / size);
  for (int step = 0; step < 20; ++step) sum(MPI_COMM_WORLD);
}

static void subgroups(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &half);
  for (int part = 0; rank < 2 && part < 20; ++part) {
    sum(half);
    compute_ms(ms / 20);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&half);
}

static void stopped(void) {
  for (int step = 0; step < 3; ++step) {
    sum(MPI_COMM_WORLD);
    if (step == 1 && rank == 1) be_stopped_ms(ms);
  }
}

static void send_late_to_all(void) {
  sleep_ms(ms);
  for (int other = 1; other < size; ++other) MPI_Send(&ms, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
}

static void test_loop(void) {
  int got = 0, done = 0;
  MPI_Request request;
  if (rank == 0) {
    send_late_to_all();
    return;
  }
  MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    sleep_ms(1);
  }
}

static void iprobe_loop(void) {
  int got = 0, there = 0;
  if (rank == 0) {
    send_late_to_all();
    return;
  }
  while (!there) {
    MPI_Iprobe(0, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    sleep_ms(1);
  }
  MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void any_source(void) {
  int task = 0, left = size - 1;
  MPI_Status status;
  while (rank == 0 && left > 0) {
    MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == 2) --left;
    if (status.MPI_TAG == 1) MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD);
  }
  for (int part = 0; rank > 0 && part < 3; ++part) {
    compute_ms(ms * rank / size / 2);
    MPI_Send(&part, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&task, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &status);
  }
  if (rank > 0) MPI_Send(&task, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
}

static void* listen_for_messages(void* unused) {
  int word = 0;
  (void)unused;
  do MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, *listened, MPI_STATUS_IGNORE);
  while (word != 0);
  return NULL;
}

static void threads(void) {
  MPI_Comm beside;
  pthread_t listener;
  int word = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &beside);
  listened = &beside;
  pthread_create(&listener, NULL, listen_for_messages, NULL);
  sleep_ms(ms);
  MPI_Send(&word, 1, MPI_INT, (rank + 1) % size, 0, beside);
  sum(MPI_COMM_WORLD);
  word = 0;
  MPI_Send(&word, 1, MPI_INT, rank, 0, beside);
  pthread_join(listener, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&beside);
}

static void overlap(void) {
  float mine[16] = {0}, all[16];
  MPI_Request request;
  for (int step = 0; step < 2; ++step) {
    MPI_Iallreduce(mine, all, 16, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    compute_ms(rank == 0 ? ms : ms / 2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void crowded(void) {
  if (rank == 0) crowd_the_host_ms(ms);
  for (int step = 0; step < 20; ++step) {
    compute_ms(ms / 20);
    sum(MPI_COMM_WORLD);
  }
  wait_for_helpers();
}

static void requests(void) {
  int words[64] = {0}, which = 0;
  MPI_Request all[64];
  for (int other = 1; rank == 0 && other < size; ++other)
    MPI_Irecv(&words[other], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &all[other - 1]);
  for (int i = 1; rank == 0 && i < size; ++i) MPI_Waitany(size - 1, all, &which, MPI_STATUS_IGNORE);
  if (rank > 0) {
    sleep_ms(ms * rank / size);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

static void along_a_chain(void) {
  static int large[1 << 18];
  if (rank > 0) MPI_Recv(large, 1 << 18, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank < size - 1) MPI_Send(large, 1 << 18, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
}

static void ring(void) {
  int word = rank;
  if (rank == 0) crowd_the_host_ms(ms);
  if (rank == 1) be_stopped_soon_ms(ms / 4, ms / 2);
  for (int step = 0; step < 100; ++step) {
    MPI_Send(&word, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (step % 25 == 24 && rank == size - 1) sleep_ms(ms / 4);
    if (step % 25 == 24) along_a_chain();
    compute_ms(ms / 200);
  }
  wait_for_helpers();
}

static int run(const char* how) {
  if (strcmp(how, "evaluation") == 0) return pause_on_zero(compute_ms), 0;
  if (strcmp(how, "checkpoint") == 0) return pause_on_zero(save_ms), 0;
  if (strcmp(how, "growing") == 0) return growing(), 0;
  if (strcmp(how, "first_step") == 0) return first_step(), 0;
  if (strcmp(how, "subgroups") == 0) return subgroups(), 0;
  if (strcmp(how, "stopped") == 0) return stopped(), 0;
  if (strcmp(how, "test") == 0) return test_loop(), 0;
  if (strcmp(how, "iprobe") == 0) return iprobe_loop(), 0;
  if (strcmp(how, "any_source") == 0) return any_source(), 0;
  if (strcmp(how, "threads") == 0) return threads(), 0;
  if (strcmp(how, "overlap") == 0) return overlap(), 0;
  if (strcmp(how, "crowded") == 0) return crowded(), 0;
  if (strcmp(how, "requests") == 0) return requests(), 0;
  if (strcmp(how, "ring") == 0) return ring(), 0;
  return 64;
}

int main(int argc, char** argv) {
  char how[16] = "evaluation";
  int level = 0;
  for (int i = 1; i < argc; ++i)
    if (sscanf(argv[i], "--how=%15s", how) != 1 && sscanf(argv[i], "--ms=%d", &ms) != 1) return 64;
  if (strcmp(how, "threads") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int code = run(how);
  MPI_Finalize();
  return code;
}
