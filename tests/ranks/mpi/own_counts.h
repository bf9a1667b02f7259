/* own_counts.h: a rank program's own book of its calls, printed as one JSON line for each rank. */
#ifndef RANKS_MPI_OWN_COUNTS_H
#define RANKS_MPI_OWN_COUNTS_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static struct {
  const char* op;
  long calls;
} own_counts[64];

static inline void count(const char* op) {
  int i = 0;
  while (own_counts[i].op && strcmp(own_counts[i].op, op) != 0) ++i;
  own_counts[i].op = op;
  ++own_counts[i].calls;
}

/* Writes once, so that the lines of several ranks do not mix. */
static inline void print_counts(int rank, const char* program, double checksum) {
  char line[2048];
  int at = snprintf(line, sizeof(line), "{\"rank\":%d,\"program\":\"%s\",\"checksum\":%.17g,\"counts\":{",
                    rank, program, checksum);
  for (int i = 0; own_counts[i].op; ++i)
    at += snprintf(line + at, sizeof(line) - (size_t)at, "%s\"%s\":%ld", i ? "," : "", own_counts[i].op,
                   own_counts[i].calls);
  printf("%s}}\n", line);
  fflush(stdout);
}

#endif /* RANKS_MPI_OWN_COUNTS_H */
