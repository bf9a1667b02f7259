/* mpi_matched.c: messages that are probed and then received: MPI_Mprobe, MPI_Improbe, MPI_Mrecv,
 * MPI_Imrecv. Even ranks send five messages to the next rank, and odd ranks receive them. */
#include <mpi.h>
#include <stdio.h>

#include "of_count.h"
#include "own_counts.h"

enum { kMessages = 5, kElements = 50000 };

static int numbers[kElements], wrong;

static void expect(int number, int source, const MPI_Status* status) {
  if (numbers[kElements - 1] != number || status->MPI_SOURCE != source || status->MPI_TAG != number) ++wrong;
}

static void fetch_all(int source) {
  MPI_Message message;
  MPI_Status status;
  MPI_Request q;
  for (int number = 1; number <= kMessages; ++number) {
    int there = 0;
    count("recv");
    if (number == 1) MPI_Mprobe(source, number, MPI_COMM_WORLD, &message, &status);
    if (number == 2) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (number == 5) MPI_Recv(numbers, kElements, MPI_INT, source, number, MPI_COMM_WORLD, &status);
    while (!there && (number == 3 || number == 4))
      MPI_Improbe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message,
                  number == 3 ? MPI_STATUS_IGNORE : &status);
    if (number <= 3) count("wait"), MPI_Mrecv(numbers, kElements, MPI_INT, &message, &status);
    if (number == 4) {
      MPI_Imrecv(numbers, kElements, MPI_INT, &message, &q);
      count("wait"), MPI_Wait(&q, &status);
    }
    expect(number, source, &status);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  count("init"), MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank % 2) fetch_all(rank - 1);
  for (int number = 1; rank % 2 == 0 && rank + 1 < size && number <= kMessages; ++number) {
    for (int i = 0; i < kElements; ++i) numbers[i] = number;
    if (number % 2)
      count("send"), MPI_Send(numbers, kElements, MPI_INT, rank + 1, number, MPI_COMM_WORLD);
    else
      count("ssend"), MPI_Ssend(numbers, kElements, MPI_INT, rank + 1, number, MPI_COMM_WORLD);
  }
  count("barrier"), MPI_Barrier(MPI_COMM_WORLD);
  count("finalize"), MPI_Finalize();
  print_counts(rank, "mpi_matched", wrong);
  return wrong != 0;
}
