/* corpus.h: the parts that all programs of the corpus share: buffers, the ranks with the mistake, the cases.
 *
 *   PROGRAM CASE MASK     MASK: one bit for each rank that makes the mistake; 0 is the correct twin */
#ifndef RANKS_CORPUS_CORPUS_H
#define RANKS_CORPUS_CORPUS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRoom = 1 << 16, kLarge = 1 << 20, kSteps = 4, kAt = 2 };

static int rank, size, wrong, everyone_wrong;
static int next, prev;
static int in[kRoom], out[kRoom];
static int large_in[kLarge], large_out[kLarge];
static MPI_Comm other, third; /* two more communicators of all ranks */
static MPI_Request q, q2[8];

struct corpus_case {
  const char* name;
  void (*run)(void);
};

static inline int corpus_main(int argc, char** argv, const struct corpus_case* cases) {
  const unsigned long mask = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
  while (argc == 3 && cases->name && strcmp(cases->name, argv[1]) != 0) ++cases;
  if (argc != 3 || !cases->name) {
    fprintf(stderr, "usage: %s CASE MASK\n", argv[0]);
    return 64;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  wrong = (int)(mask >> rank & 1);
  everyone_wrong = mask != 0;
  next = (rank + 1) % size;
  prev = (rank + size - 1) % size;
  cases->run();
  MPI_Finalize();
  return 0;
}

static inline void make_comms(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &third);
}

/* Not every case needs all of them. */
static inline void use_all(void) {
  (void)in, (void)out, (void)large_in, (void)large_out, (void)other, (void)third, (void)q, (void)q2;
  (void)next, (void)prev, (void)wrong, (void)everyone_wrong, (void)make_comms, (void)use_all;
}

#endif /* RANKS_CORPUS_CORPUS_H */
