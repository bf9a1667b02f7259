/* replay_nccl.c: performs the collectives and messages that a program text lists, over NCCL.
 *
 *   RANK=r WORLD_SIZE=n replay_nccl --store=DIR [FILE] [--limit=10s] [--steps-check] [--diverge]
 *
 * The text is in the environment variable REPLAY, or in FILE; program.h describes it. DIR is a folder that
 * all ranks see, new for each job. Each group has a communicator and a stream. A call that is not pending is
 * complete before the rank continues. NCCL has no time limit: the rank waits in cudaStreamSynchronize. With
 * --limit it polls the stream, and aborts the communicator at the limit. NCCL has no tags and no scans. A
 * barrier is an all-reduce of one number; a gather, a scatter and an all-to-all are groups of messages.
 * --steps-check: before each step, that is each iteration of an outermost repeat, and before the end, the
 * ranks compare how many collectives of each group they made, and which one is next. A failed call ends the
 * rank with status 3, a bad text with status 64. The program has no code for rankfault. */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include "run.h"
#include "whole_file.h"

enum { kOfThisCall = 1, kOfPendingCall = 2 }; /* why a buffer is busy */

static struct replay_run run;
static ncclComm_t* comms; /* of each group; null if this rank is not in it */
static cudaStream_t* streams;
static const struct replay_statement**
    unfinished; /* of each group: the last call that this rank did not wait for */

static void fail(const char* what, const char* why) {
  replay_leave(&run, what, why);
  _exit(3);
}

static void must_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(what, cudaGetErrorName(error));
}

static void must(ncclResult_t result, const char* what) {
  if (result != ncclSuccess) fail(what, ncclGetErrorString(result));
}

static void* allocate(size_t bytes) {
  void* memory = NULL;
  must_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
  must_cuda(cudaMemset(memory, 0, bytes), "cudaMemset");
  return memory;
}

static char* take(int64_t bytes) {
  struct replay_buffer* buffer = replay_take(&run, bytes);
  buffer->is_busy = kOfThisCall;
  return buffer->memory;
}

static void end_buffers(int from, int to) {
  for (struct replay_buffer* b = run.buffers; b; b = b->next)
    if (b->is_busy == from) b->is_busy = to;
}

static ncclDataType_t type_of(int dtype) {
  /* the header of NCCL 2.22 hides ncclBfloat16 from C: it is 9 */
  const ncclDataType_t types[kDtypes] = {ncclFloat16, (ncclDataType_t)9, ncclFloat32, ncclFloat64,
                                         ncclInt8,    ncclUint8,         ncclInt32,   ncclInt64};
  return types[dtype];
}

static ncclRedOp_t reduction_of(int reduction) {
  const ncclRedOp_t ops[kReductions] = {ncclSum, ncclMax, ncclMin, ncclProd};
  return ops[reduction];
}

/* Waits for the stream of a group. */
static void finish(int g) {
  char title[2 * kNameSize], why[64];
  const double until = replay_seconds() + replay_limit(&run);
  cudaError_t said;
  ncclResult_t result = ncclSuccess;
  if (!unfinished[g]) return;
  replay_title(&run, unfinished[g], title, sizeof title);
  if (run.limit <= 0) must_cuda(cudaStreamSynchronize(streams[g]), title);
  while ((said = cudaStreamQuery(streams[g])) == cudaErrorNotReady) {
    must(ncclCommGetAsyncError(comms[g], &result), title);
    must(result, title);
    if (replay_seconds() > until) {
      snprintf(why, sizeof why, "gave up after %g s", replay_limit(&run));
      replay_leave(&run, title, why);
      ncclCommAbort(comms[g]);
      _exit(3);
    }
    replay_doze(100);
  }
  must_cuda(said, title);
  unfinished[g] = NULL;
}

static void wait_for_all(void) {
  for (int g = 0; g < run.program.groups_made; ++g) finish(g);
  end_buffers(kOfPendingCall, 0);
}

/* Messages between a rank and each member: `given` bytes to each, `taken` bytes of each. The own share of an
 * uneven exchange is larger by `extra`. */
static ncclResult_t exchange(int g, int64_t given, int64_t taken, int64_t extra, int only_to, int only_from) {
  const struct replay_group* group = &run.program.groups[g];
  const int own = replay_index(group, run.rank), size = group->size;
  char *in = take(given * size + extra), *out = take(taken * size + extra);
  ncclResult_t result = ncclGroupStart();
  for (int i = 0; i < size && result == ncclSuccess; ++i) {
    const size_t more = (size_t)(i == own ? extra : 0);
    const int sends = given && (only_to < 0 || only_to == i),
              takes = taken && (only_from < 0 || only_from == i);
    if (sends) result = ncclSend(in + i * given, (size_t)given + more, ncclInt8, i, comms[g], streams[g]);
    if (takes && result == ncclSuccess)
      result = ncclRecv(out + i * taken, (size_t)taken + more, ncclInt8, i, comms[g], streams[g]);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

static ncclResult_t ask(const struct replay_statement* s) {
  const int g = s->group, bytes = replay_bytes_of(s->dtype);
  const struct replay_group* group = &run.program.groups[g];
  const int peer = replay_index(group, s->peer), is_root = s->peer == run.rank, size = group->size;
  const size_t count = (size_t)s->count, whole = (size_t)replay_whole(s, group);
  const int64_t part = s->count * bytes;
  const ncclDataType_t type = type_of(s->dtype);
  const ncclRedOp_t op = reduction_of(s->reduction);
  const ncclComm_t comm = comms[g];
  const cudaStream_t stream = streams[g];
  char *in, *out;
  switch (s->op) {
    case kGather:
      return exchange(g, part, is_root ? part : 0, 0, peer, -1);
    case kScatter:
      return exchange(g, is_root ? part : 0, part, 0, -1, peer);
    case kAllToAll:
      return exchange(g, (int64_t)whole / size * bytes, (int64_t)whole / size * bytes, 0, -1, -1);
    case kAllToAllv:
      return exchange(g, s->count / size * bytes, s->count / size * bytes, s->count % size * bytes, -1, -1);
    case kBarrier:
      in = take(4);
      return ncclAllReduce(in, in, 1, ncclInt32, ncclSum, comm, stream);
    default:
      break;
  }
  in = take(s->op == kReduceScatter ? (int64_t)whole * bytes : part);
  if (s->op == kSend) return ncclSend(in, count, type, peer, comm, stream);
  if (s->op == kRecv) return ncclRecv(in, count, type, peer, comm, stream);
  if (s->op == kBroadcast) return ncclBroadcast(in, in, count, type, peer, comm, stream);
  out = take(s->op == kAllGather ? part * size : part);
  if (s->op == kAllReduce) return ncclAllReduce(in, out, count, type, op, comm, stream);
  if (s->op == kReduce) return ncclReduce(in, out, count, type, op, peer, comm, stream);
  if (s->op == kAllGather) return ncclAllGather(in, out, count, type, comm, stream);
  return ncclReduceScatter(in, out, whole / (size_t)size, type, op, comm, stream);
}

static void perform(const struct replay_statement* s) {
  char title[2 * kNameSize];
  if (s->op == kWait) {
    wait_for_all();
    return;
  }
  must(ask(s), replay_title(&run, s, title, sizeof title));
  unfinished[s->group] = s;
  if (!s->is_pending) finish(s->group);
  end_buffers(kOfThisCall, s->is_pending ? kOfPendingCall : 0);
}

static void check(const int64_t* mine) {
  const size_t numbers = (size_t)(2 * run.program.groups_made);
  int64_t* all = replay_grown(NULL, numbers * (size_t)run.program.size * sizeof *all);
  const double until = replay_seconds() + replay_limit(&run);
  char name[64];
  int silent = 0;
  snprintf(name, sizeof name, "step check %d %d", run.checks, run.rank);
  if (!replay_leave_file(&run, name, mine, numbers * sizeof *mine)) fail("step-check", "no file can be made");
  for (int rank = 0; rank < run.program.size; ++rank) {
    snprintf(name, sizeof name, "step check %d %d", run.checks, rank);
    if (replay_find_file(&run, name, all + (size_t)rank * numbers, numbers * sizeof *all, until)) continue;
    fprintf(stderr, "%s%d", silent++ ? "," : "defence step-check: ranks ", rank);
  }
  if (silent) fprintf(stderr, " do not answer within %g s\n", replay_limit(&run));
  if (silent || !replay_compare(&run, all)) _exit(3);
  free(all);
}

/* The first member leaves the id of the communicator. */
static void make_group(int g) {
  const struct replay_group* group = &run.program.groups[g];
  const int own = replay_index(group, run.rank);
  const double until = replay_seconds() + (replay_limit(&run) > 30 ? replay_limit(&run) : 30);
  ncclUniqueId id;
  if (own < 0) return;
  if (own == 0) {
    must(ncclGetUniqueId(&id), group->name);
    if (!replay_leave_file(&run, group->name, &id, sizeof id)) fail(group->name, "no file can be made");
  }
  if (!replay_find_file(&run, group->name, &id, sizeof id, until)) fail(group->name, "no rank left an id");
  must(ncclCommInitRank(&comms[g], group->size, id, own), group->name);
  must_cuda(cudaStreamCreateWithFlags(&streams[g], cudaStreamNonBlocking), group->name);
}

int main(int argc, char** argv) {
  const char *rank = getenv("RANK"), *ranks = getenv("WORLD_SIZE");
  int devices = 0;
  run = replay_begin(argc, argv);
  run.allocate = allocate;
  run.perform = perform;
  run.check = check;
  for (int i = 0; i < run.program.made; ++i)
    if (run.program.statements[i].op == kScan || run.program.statements[i].op == kExscan)
      replay_stop(run.program.statements[i].line, "NCCL has no scan");
  if (!rank || !ranks || !*run.store) replay_stop(0, "RANK, WORLD_SIZE and --store=DIR are needed");
  if (!replay_meet(&run, atoi(rank), atoi(ranks))) return kBadText;
  must_cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (!devices) fail("cudaGetDeviceCount", "this machine has no CUDA device");
  must_cuda(cudaSetDevice(run.rank % devices), "cudaSetDevice");
  comms = calloc((size_t)run.program.groups_made, sizeof *comms);
  streams = calloc((size_t)run.program.groups_made, sizeof *streams);
  unfinished = calloc((size_t)run.program.groups_made, sizeof *unfinished);
  if (!comms || !streams || !unfinished) fail("calloc", "the memory does not suffice");
  for (int g = 0; g < run.program.groups_made; ++g) make_group(g);
  replay_perform(&run);
  wait_for_all();
  replay_check(&run, run.program.made);
  for (int g = 0; g < run.program.groups_made; ++g)
    if (comms[g]) ncclCommDestroy(comms[g]);
  return 0;
}
