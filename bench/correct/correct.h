/* correct.h: what the features of mpi_correct.c share: a stream of numbers that is equal on all ranks, one
 * stream for each rank alone, and a checked sum. Every feature is a correct use of MPI: it ends, and its
 * results are known. */
#ifndef RANKFAULT_BENCH_CORRECT_H
#define RANKFAULT_BENCH_CORRECT_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct draw {
  uint64_t state;
};

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t next_number(struct draw* from) {
  uint64_t z = from->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline int below(struct draw* from, int limit) { return (int)(next_number(from) % (uint64_t)limit); }

/* `common` gives every rank the same numbers, `own` gives each rank different ones. */
struct world {
  MPI_Comm comm;
  int rank, size, level; /* level: the thread support that the library gave */
  struct draw common, own;
  uint64_t sum; /* of all checked results; equal in every run of a seed */
};

static inline void check(struct world* w, int holds, const char* what) {
  w->sum = w->sum * 31 + (uint64_t)(holds != 0);
  if (holds) return;
  fprintf(stderr, "rank %d: wrong result of %s\n", w->rank, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Makes a rank late by up to 4 ms, sometimes. */
static inline void pause_sometimes(struct world* w) {
  if (below(&w->own, 4) == 0) usleep((useconds_t)below(&w->own, 4000));
}

static inline void fill(int* values, int count, int with) {
  for (int i = 0; i < count; ++i) values[i] = with + i;
}

static inline int is_filled(const int* values, int count, int with) {
  for (int i = 0; i < count; ++i)
    if (values[i] != with + i) return 0;
  return 1;
}

#endif
