/* replay_mpi.c: performs the collectives and messages that a program text lists, over MPI.
 *
 *   mpirun -np N replay_mpi [FILE] [--limit=10s] [--steps-check] [--diverge]
 *
 * The text is in the environment variable REPLAY, or in FILE; program.h describes it. --limit: a call that
 * takes longer ends the job. MPI has no such limit, so a thread watches the calls. --steps-check: before each
 * step, that is each iteration of an outermost repeat, and before the end, the ranks compare how many
 * collectives of each group they made, and which one is next. A failed call ends the job with status 3, a bad
 * text with status 64. The program has no code for rankfault. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#include "run.h"

enum { kMostBuffers = 3 };
struct pending {
  MPI_Request request;
  const struct replay_statement* statement;
  struct replay_buffer* buffers[kMostBuffers];
  int buffers_made;
};

static struct replay_run run;
static MPI_Comm* comms; /* of each group */
static MPI_Comm for_checks = MPI_COMM_NULL;
static struct pending* pending;
static int pending_made, pending_room;
static _Atomic(int64_t) call_until; /* in milliseconds; 0: the rank is in no call */
static _Atomic(const struct replay_statement*) call_of;

/* MPI has no 16-bit floats: integers of the same size stand for them. */
static MPI_Datatype type_of(int dtype) {
  const MPI_Datatype types[kDtypes] = {MPI_UINT16_T, MPI_UINT16_T, MPI_FLOAT,   MPI_DOUBLE,
                                       MPI_INT8_T,   MPI_UINT8_T,  MPI_INT32_T, MPI_INT64_T};
  return types[dtype];
}

static MPI_Op reduction_of(int reduction) {
  const MPI_Op ops[kReductions] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD};
  return ops[reduction];
}

static void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (!memory) {
    replay_leave(&run, "calloc", "the memory does not suffice");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return memory;
}

static void must(int error, const char* what) {
  char why[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (error == MPI_SUCCESS) return;
  MPI_Error_string(error, why, &length);
  replay_leave(&run, what, why);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void enter(const struct replay_statement* s) {
  if (run.limit <= 0) return;
  atomic_store(&call_of, s);
  atomic_store(&call_until, (int64_t)((replay_seconds() + run.limit) * 1e3));
}

static void leave(void) { atomic_store(&call_until, 0); }

static void* watch(void* nothing) {
  for (;;) {
    const int64_t until = atomic_load(&call_until);
    if (until && (int64_t)(replay_seconds() * 1e3) > until && until == atomic_load(&call_until)) {
      const struct replay_statement* s = atomic_load(&call_of);
      char title[2 * kNameSize] = "init";
      if (s) replay_title(&run, s, title, sizeof title);
      fprintf(stderr, "rank %d: gave up %s after %g s\n", run.rank, title, run.limit);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    replay_doze(10000);
  }
  return nothing;
}

static struct pending* new_pending(const struct replay_statement* s) {
  if (pending_made == pending_room) {
    pending_room = 2 * pending_room + 16;
    pending = replay_grown(pending, (size_t)pending_room * sizeof *pending);
  }
  struct pending* made = &pending[pending_made++];
  memset(made, 0, sizeof *made);
  made->request = MPI_REQUEST_NULL;
  made->statement = s;
  return made;
}

static void* take(struct pending* call, int64_t bytes) {
  struct replay_buffer* buffer = replay_take(&run, bytes);
  call->buffers[call->buffers_made++] = buffer;
  return buffer->memory;
}

static void end_of(struct pending* call) {
  for (int i = 0; i < call->buffers_made; ++i) call->buffers[i]->is_busy = 0;
}

/* Each rank gives an equal share to the others and adds the remainder to its own. */
static int all_to_allv(const struct replay_statement* s, const struct replay_group* group, int own,
                       MPI_Comm comm, struct pending* call) {
  const MPI_Datatype type = type_of(s->dtype);
  int* counts = take(call, 2 * group->size * (int64_t)sizeof(int));
  int* places = counts + group->size;
  for (int i = 0, at = 0; i < group->size; at += counts[i++]) {
    places[i] = at;
    counts[i] = (int)(s->count / group->size + (i == own ? s->count % group->size : 0));
  }
  void* in = take(call, s->count * replay_bytes_of(s->dtype));
  void* out = take(call, s->count * replay_bytes_of(s->dtype));
  return s->is_pending
             ? MPI_Ialltoallv(in, counts, places, type, out, counts, places, type, comm, &call->request)
             : MPI_Alltoallv(in, counts, places, type, out, counts, places, type, comm);
}

/* A function of MPI, or the one that begins the same call and returns a request. */
#define EITHER(now, later, ...) (s->is_pending ? later(__VA_ARGS__, &call->request) : now(__VA_ARGS__))

static int message(const struct replay_statement* s, const struct replay_group* group, MPI_Comm comm,
                   struct pending* call) {
  const int peer = replay_index(group, s->peer), count = (int)s->count;
  const MPI_Datatype type = type_of(s->dtype);
  void* buffer = take(call, s->count * replay_bytes_of(s->dtype));
  if (s->op == kSend) return EITHER(MPI_Send, MPI_Isend, buffer, count, type, peer, s->tag, comm);
  return s->is_pending ? MPI_Irecv(buffer, count, type, peer, s->tag, comm, &call->request)
                       : MPI_Recv(buffer, count, type, peer, s->tag, comm, MPI_STATUS_IGNORE);
}

static int ask(const struct replay_statement* s, struct pending* call) {
  const struct replay_group* group = &run.program.groups[s->group];
  const MPI_Comm comm = comms[s->group];
  const int root = replay_index(group, s->peer), own = replay_index(group, run.rank), size = group->size;
  const int count = (int)s->count, whole = (int)replay_whole(s, group);
  const MPI_Datatype type = type_of(s->dtype);
  const MPI_Op op = reduction_of(s->reduction);
  if (s->op >= kSend) return message(s, group, comm, call);
  if (s->op == kBarrier) return EITHER(MPI_Barrier, MPI_Ibarrier, comm);
  if (s->op == kAllToAllv) return all_to_allv(s, group, own, comm, call);
  const int bytes = replay_bytes_of(s->dtype);
  const int64_t all = (int64_t)count * size * bytes;
  const int shares = s->op == kReduceScatter || s->op == kAllToAll;
  void* in = take(call, s->op == kScatter ? all : (int64_t)(shares ? whole : count) * bytes);
  if (s->op == kBroadcast) return EITHER(MPI_Bcast, MPI_Ibcast, in, count, type, root, comm);
  void* out =
      take(call, s->op == kGather || s->op == kAllGather ? all : (int64_t)(shares ? whole : count) * bytes);
  switch (s->op) {
    case kAllReduce:
      return EITHER(MPI_Allreduce, MPI_Iallreduce, in, out, count, type, op, comm);
    case kReduce:
      return EITHER(MPI_Reduce, MPI_Ireduce, in, out, count, type, op, root, comm);
    case kGather:
      return EITHER(MPI_Gather, MPI_Igather, in, count, type, out, count, type, root, comm);
    case kScatter:
      return EITHER(MPI_Scatter, MPI_Iscatter, in, count, type, out, count, type, root, comm);
    case kAllGather:
      return EITHER(MPI_Allgather, MPI_Iallgather, in, count, type, out, count, type, comm);
    case kReduceScatter:
      return EITHER(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, whole / size, type, op,
                    comm);
    case kAllToAll:
      return EITHER(MPI_Alltoall, MPI_Ialltoall, in, whole / size, type, out, whole / size, type, comm);
    case kScan:
      return EITHER(MPI_Scan, MPI_Iscan, in, out, count, type, op, comm);
    default:
      return EITHER(MPI_Exscan, MPI_Iexscan, in, out, count, type, op, comm);
  }
}

static void wait_for_all(void) {
  char title[2 * kNameSize];
  for (int i = 0; i < pending_made; ++i) {
    enter(pending[i].statement);
    must(MPI_Wait(&pending[i].request, MPI_STATUS_IGNORE),
         replay_title(&run, pending[i].statement, title, sizeof title));
    leave();
    end_of(&pending[i]);
  }
  pending_made = 0;
}

static void perform(const struct replay_statement* s) {
  char title[2 * kNameSize];
  if (s->op == kWait) {
    wait_for_all();
    return;
  }
  struct pending* call = new_pending(s);
  enter(s);
  must(ask(s, call), replay_title(&run, s, title, sizeof title));
  leave();
  if (s->is_pending) return;
  end_of(call);
  --pending_made;
}

static void check(const int64_t* mine) {
  const int numbers = 2 * run.program.groups_made;
  int64_t* all = allocate((size_t)run.program.size * (size_t)numbers * sizeof *all);
  const double until = replay_seconds() + replay_limit(&run);
  MPI_Request request;
  int done = 0;
  must(MPI_Iallgather(mine, numbers, MPI_INT64_T, all, numbers, MPI_INT64_T, for_checks, &request),
       "step-check");
  while (!done) {
    must(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "step-check");
    if (!done && replay_seconds() > until) {
      fprintf(stderr, "defence step-check: a rank does not answer rank %d within %g s\n", run.rank,
              replay_limit(&run));
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (!done) replay_doze(200);
  }
  if (!replay_compare(&run, all)) {
    MPI_Barrier(for_checks); /* every rank sees the difference, and prints it before the job ends */
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  free(all);
}

static void make_groups(void) {
  MPI_Group world, members;
  comms = allocate((size_t)run.program.groups_made * sizeof *comms);
  comms[0] = MPI_COMM_WORLD;
  must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "init on world");
  must(MPI_Comm_group(MPI_COMM_WORLD, &world), "init on world");
  for (int g = 1; g < run.program.groups_made; ++g) {
    const struct replay_group* group = &run.program.groups[g];
    comms[g] = MPI_COMM_NULL;
    if (replay_index(group, run.rank) < 0) continue;
    enter(NULL);
    must(MPI_Group_incl(world, group->size, group->members, &members), group->name);
    must(MPI_Comm_create_group(MPI_COMM_WORLD, members, g, &comms[g]), group->name);
    must(MPI_Comm_set_errhandler(comms[g], MPI_ERRORS_RETURN), group->name);
    must(MPI_Group_free(&members), group->name);
    leave();
  }
  must(MPI_Group_free(&world), "init on world");
  if (run.wants_check) must(MPI_Comm_dup(MPI_COMM_WORLD, &for_checks), "init on world");
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, provided = 0;
  pthread_t watcher;
  run = replay_begin(argc, argv);
  run.allocate = allocate;
  run.perform = perform;
  run.check = check;
  MPI_Init_thread(&argc, &argv, run.limit > 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!replay_meet(&run, rank, ranks)) {
    MPI_Finalize();
    return kBadText;
  }
  if (run.limit > 0 && pthread_create(&watcher, NULL, watch, NULL) != 0)
    replay_stop(0, "no thread can be made");
  make_groups();
  replay_perform(&run);
  wait_for_all();
  replay_check(&run, run.program.made);
  if (run.wants_check) MPI_Comm_free(&for_checks);
  for (int g = 1; g < run.program.groups_made; ++g)
    if (comms[g] != MPI_COMM_NULL) MPI_Comm_free(&comms[g]);
  MPI_Finalize();
  return 0;
}
