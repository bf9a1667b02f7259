/* comms.h: makes, uses and frees communicators; groups, intercommunicators, attributes, sessions. */
#ifndef RANKFAULT_BENCH_CORRECT_COMMS_H
#define RANKFAULT_BENCH_CORRECT_COMMS_H

#include "collectives.h"
#include "correct.h"

static void duplicates(struct world* w) {
  const int count = 1 + below(&w->common, 4);
  for (int i = 0; i < count; ++i) {
    MPI_Comm copy;
    if (below(&w->common, 2)) {
      MPI_Request request;
      MPI_Comm_idup(w->comm, &copy, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Comm_dup(w->comm, &copy);
    }
    one_collective(w, copy);
    MPI_Comm_free(&copy);
  }
}

static void many_duplicates(struct world* w) {
  for (int i = 0; i < 300; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(w->comm, &copy);
    if (i % 50 == 0) one_collective(w, copy);
    MPI_Comm_free(&copy);
  }
}

/* Each part works independently; some ranks are in no part. */
static void parts(struct world* w) {
  MPI_Comm part;
  const int colours = 1 + below(&w->common, 3), left_out = below(&w->common, 4) == 0;
  const int colour = left_out && w->rank == w->size - 1 ? MPI_UNDEFINED : w->rank % colours;
  MPI_Comm_split(w->comm, colour, below(&w->own, 10), &part);
  if (part == MPI_COMM_NULL) return;
  int mine = 1, sum = 0, size = 0;
  MPI_Comm_size(part, &size);
  const int steps = 1 + (w->rank % colours); /* parts make different numbers of calls */
  for (int i = 0; i < steps; ++i) {
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, part);
    check(w, sum == size, "split");
  }
  MPI_Comm_free(&part);
}

/* Only members call. */
static void grouped(struct world* w) {
  MPI_Group all, some;
  MPI_Comm comm;
  const int members = 1 + below(&w->common, w->size);
  int ranks[64], mine = 1, sum = 0;
  fill(ranks, members, 0);
  MPI_Comm_group(w->comm, &all);
  MPI_Group_incl(all, members, ranks, &some);
  if (w->rank < members) {
    MPI_Comm_create_group(w->comm, some, 3, &comm);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(w, sum == members, "create_group");
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&some);
  MPI_Group_free(&all);
}

static void two_sides(struct world* w) {
  if (w->size < 2) return;
  MPI_Comm side, across, merged;
  const int is_right = w->rank % 2;
  int mine = w->rank, total = 0, size = 0;
  MPI_Comm_split(w->comm, is_right, w->rank, &side);
  MPI_Intercomm_create(side, 0, w->comm, 1 - is_right, 12, &across);
  MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_MAX, across);
  check(w, total % 2 != is_right, "intercommunicator");
  MPI_Intercomm_merge(across, is_right, &merged);
  MPI_Comm_size(merged, &size);
  check(w, size == w->size, "merge");
  MPI_Comm_free(&merged);
  MPI_Comm_free(&across);
  MPI_Comm_free(&side);
}

static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key;
  (void)value;
  MPI_Barrier(comm);
  ++*(int*)extra;
  return MPI_SUCCESS;
}

/* A delete function communicates, as in libraries that attach a communicator of their own to the
 * program's. */
static void attributes(struct world* w) {
  MPI_Comm copy;
  int key, deleted = 0;
  MPI_Comm_dup(w->comm, &copy);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, &deleted);
  MPI_Comm_set_attr(copy, key, &deleted);
  if (below(&w->common, 2)) MPI_Comm_delete_attr(copy, key);
  MPI_Comm_free(&copy);
  check(w, deleted == 1, "delete function");
  MPI_Comm_free_keyval(&key);
}

static void own_communicator(struct world* w) {
  int mine = 1, sum = 0;
  const int count = below(&w->own, 200); /* each rank makes a random number of calls */
  for (int i = 0; i < count; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void on_one_host(struct world* w) {
  MPI_Comm host;
  MPI_Comm_split_type(w->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  one_collective(w, host);
  MPI_Comm_free(&host);
}

#endif
