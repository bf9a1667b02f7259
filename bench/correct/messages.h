/* messages.h: point to point, blocking and nonblocking, wildcards, probes, persistent and partitioned.
 *
 * A rank may be a feature ahead of another. A receive from any source therefore has a tag of its own: with a
 * tag that another feature uses, too, it could take that feature's message. */
#ifndef RANKFAULT_BENCH_CORRECT_MESSAGES_H
#define RANKFAULT_BENCH_CORRECT_MESSAGES_H

#include "correct.h"

enum { kCountTag = 201, kFunnelTag, kProbedTag, kUnknownTag, kCancelledTag }; /* the others are below 200 */

static int right_of(const struct world* w) { return (w->rank + 1) % w->size; }
static int left_of(const struct world* w) { return (w->rank + w->size - 1) % w->size; }

static void shift(struct world* w) {
  int mine = w->rank, other = -1;
  const int tag = below(&w->common, 100);
  MPI_Sendrecv(&mine, 1, MPI_INT, right_of(w), tag, &other, 1, MPI_INT, left_of(w), tag, w->comm,
               MPI_STATUS_IGNORE);
  check(w, other == left_of(w), "sendrecv");
}

/* Rank 0 begins, so no two ranks wait for each other. The sizes range from messages that are sent at once
 * to messages that are not. */
static void ring(struct world* w) {
  const int count = 1 << below(&w->common, 17);
  int* const numbers = malloc((size_t)count * sizeof(int));
  if (w->rank == 0) {
    fill(numbers, count, 3);
    MPI_Send(numbers, count, MPI_INT, right_of(w), 7, w->comm);
  }
  MPI_Recv(numbers, count, MPI_INT, left_of(w), 7, w->comm, MPI_STATUS_IGNORE);
  check(w, is_filled(numbers, count, 3), "ring");
  if (w->rank != 0) MPI_Send(numbers, count, MPI_INT, right_of(w), 7, w->comm);
  free(numbers);
}

static void pending_messages(struct world* w) {
  enum { kMost = 6 };
  MPI_Request requests[2 * kMost];
  int in[kMost], out[kMost];
  const int count = 1 + below(&w->common, kMost);
  for (int i = 0; i < count; ++i) MPI_Irecv(&in[i], 1, MPI_INT, left_of(w), i, w->comm, &requests[i]);
  for (int i = 0; i < count; ++i) {
    const int tag = count - 1 - i; /* in another order than the receives */
    out[tag] = w->rank * 10 + tag;
    pause_sometimes(w);
    if (tag % 2)
      MPI_Issend(&out[tag], 1, MPI_INT, right_of(w), tag, w->comm, &requests[count + tag]);
    else
      MPI_Isend(&out[tag], 1, MPI_INT, right_of(w), tag, w->comm, &requests[count + tag]);
  }
  switch (below(&w->own, 3)) {
    case 0:
      MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int i = 0, which; i < 2 * count; ++i) MPI_Waitany(2 * count, requests, &which, MPI_STATUS_IGNORE);
      break;
    default:
      for (int done = 0, n = 0, which[2 * kMost]; done < 2 * count; done += n)
        MPI_Waitsome(2 * count, requests, &n, which, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < count; ++i) check(w, in[i] == left_of(w) * 10 + i, "isend");
}

/* Rank 0 receives whatever comes first; each other rank sends a random number of messages. */
static void funnel(struct world* w) {
  if (w->rank != 0) {
    const int count = 1 + below(&w->own, 3);
    MPI_Send(&count, 1, MPI_INT, 0, kCountTag, w->comm);
    for (int i = 0; i < count; ++i) {
      pause_sometimes(w);
      MPI_Send(&i, 1, MPI_INT, 0, kFunnelTag, w->comm);
    }
    return;
  }
  int total = 0;
  for (int r = 1, count; r < w->size; ++r) {
    MPI_Recv(&count, 1, MPI_INT, r, kCountTag, w->comm, MPI_STATUS_IGNORE);
    total += count;
  }
  for (int i = 0, number; i < total; ++i)
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, kFunnelTag, w->comm, MPI_STATUS_IGNORE);
}

static void probed(struct world* w) {
  int mine[8], other[8], count = 0;
  MPI_Request request;
  MPI_Status status;
  fill(mine, 8, w->rank);
  MPI_Isend(mine, 1 + w->rank % 8, MPI_INT, right_of(w), kProbedTag, w->comm, &request);
  if (below(&w->common, 2)) {
    MPI_Probe(MPI_ANY_SOURCE, kProbedTag, w->comm, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Recv(other, count, MPI_INT, status.MPI_SOURCE, kProbedTag, w->comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Message message;
    MPI_Mprobe(left_of(w), MPI_ANY_TAG, w->comm, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Mrecv(other, count, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  check(w, count == 1 + left_of(w) % 8 && is_filled(other, count, left_of(w)), "probe");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* No rank knows how many messages will come: consensus by synchronous sends and a barrier (Hoefler et al.
 * 2010). */
static void unknown_partners(struct world* w) {
  MPI_Request sends[4], barrier = MPI_REQUEST_NULL;
  int out[4], got = 0, done = 0, is_inside = 0;
  const int count = below(&w->own, 5);
  for (int i = 0; i < count; ++i) {
    out[i] = i;
    MPI_Issend(&out[i], 1, MPI_INT, below(&w->own, w->size), kUnknownTag, w->comm, &sends[i]);
  }
  while (!done) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, kUnknownTag, w->comm, &flag, MPI_STATUS_IGNORE);
    if (flag) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, kUnknownTag, w->comm, MPI_STATUS_IGNORE);
    if (is_inside) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(count, sends, &flag, MPI_STATUSES_IGNORE);
      if (flag) {
        MPI_Ibarrier(w->comm, &barrier);
        is_inside = 1;
      }
    }
    if (!flag) usleep(20);
  }
}

static void persistent_messages(struct world* w) {
  MPI_Request requests[2];
  int mine = w->rank, other = -1;
  MPI_Recv_init(&other, 1, MPI_INT, left_of(w), 8, w->comm, &requests[0]);
  MPI_Send_init(&mine, 1, MPI_INT, right_of(w), 8, w->comm, &requests[1]);
  const int rounds = 1 + below(&w->common, 4);
  for (int i = 0; i < rounds; ++i) {
    pause_sometimes(w);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(w, other == left_of(w), "persistent message");
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void partitioned(struct world* w) {
#if MPI_VERSION >= 4
  enum { kParts = 4 };
  MPI_Request requests[2];
  int mine[kParts], other[kParts] = {0};
  fill(mine, kParts, w->rank);
  MPI_Precv_init(other, kParts, 1, MPI_INT, left_of(w), 9, w->comm, MPI_INFO_NULL, &requests[0]);
  MPI_Psend_init(mine, kParts, 1, MPI_INT, right_of(w), 9, w->comm, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  for (int i = 0; i < kParts; ++i) MPI_Pready(kParts - 1 - i, requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(w, is_filled(other, kParts, left_of(w)), "partitioned");
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#else
  (void)w;
#endif
}

static void cancelled(struct world* w) {
  MPI_Request request;
  MPI_Status status;
  int number, is_cancelled = 0;
  MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, kCancelledTag, w->comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &is_cancelled);
  check(w, is_cancelled, "cancel");
}

static void to_nobody(struct world* w) {
  int number = 1;
  MPI_Send(&number, 1, MPI_INT, MPI_PROC_NULL, 0, w->comm);
  MPI_Recv(&number, 1, MPI_INT, MPI_PROC_NULL, 0, w->comm, MPI_STATUS_IGNORE);
}

static void buffered(struct world* w) {
  enum { kBytes = 4096 };
  char* const room = malloc(kBytes + MPI_BSEND_OVERHEAD);
  void* detached;
  int mine = w->rank, other = -1, bytes;
  MPI_Buffer_attach(room, kBytes + MPI_BSEND_OVERHEAD);
  MPI_Bsend(&mine, 1, MPI_INT, right_of(w), 11, w->comm);
  MPI_Recv(&other, 1, MPI_INT, left_of(w), 11, w->comm, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&detached, &bytes);
  check(w, other == left_of(w), "bsend");
  free(room);
}

#endif
