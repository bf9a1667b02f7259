/* storage.h: one-sided communication and files. */
#ifndef RANKFAULT_BENCH_CORRECT_STORAGE_H
#define RANKFAULT_BENCH_CORRECT_STORAGE_H

#include "correct.h"

static void fence(struct world* w) {
  MPI_Win window;
  int *mine, value = w->rank;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, w->comm, &mine, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_INT, (w->rank + 1) % w->size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  check(w, *mine == (w->rank + w->size - 1) % w->size, "put");
  MPI_Win_free(&window);
}

static void locks(struct world* w) {
  MPI_Win window;
  int* counter;
  const int one = 1;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, w->comm, &counter, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, window);
  *counter = 0;
  MPI_Win_unlock(w->rank, window);
  MPI_Barrier(w->comm);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_unlock(0, window);
  MPI_Barrier(w->comm);
  MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, window);
  check(w, w->rank != 0 || *counter == w->size, "accumulate");
  MPI_Win_unlock(w->rank, window);
  MPI_Win_free(&window);
}

/* Rank 0 makes the file's name from its process id and sends it to the others. */
static void files(struct world* w) {
  const char* const folder = getenv("TMPDIR");
  char name[512] = "";
  MPI_File file;
  int mine = w->rank, other = -1;
  if (w->rank == 0) snprintf(name, sizeof(name), "%s/correct-%d", folder ? folder : "/tmp", (int)getpid());
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, w->comm);
  MPI_File_open(w->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, w->rank * (MPI_Offset)sizeof(int), &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(w->comm);
  MPI_File_sync(file);
  const int from = (w->rank + 1) % w->size;
  MPI_File_read_at_all(file, from * (MPI_Offset)sizeof(int), &other, 1, MPI_INT, MPI_STATUS_IGNORE);
  check(w, other == from, "file");
  MPI_File_close(&file);
  if (w->rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
}

#endif
