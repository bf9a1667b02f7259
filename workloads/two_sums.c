/* two_sums.c: typical training over NCCL: two sums a step, on two communicators, in 16-bit floats.
 *
 *   RANK=r WORLD_SIZE=n two_sums --store=DIR [--steps=N] [--one-stream] [--no-bf16-on=RANK] [--choose-alone]
 *                                [--sync] [--never-look] [--one-by-one]
 *
 * Odd ranks enqueue the second sum first. This is correct if each communicator has its own stream.
 * --one-stream: both communicators share one stream. The ranks agree on a type that all devices support.
 * --choose-alone: each rank takes the best type of its own device. A step may take one second; then the rank
 * leaves with status 3. --sync: the rank waits in cudaStreamSynchronize under an alarm and does not poll the
 * stream. --never-look: the rank ignores the results of the step's calls. --one-by-one: the rank waits in the
 * way of --sync for each sum before it enqueues the next; then the opposite order is wrong on any streams.
 * The program has no code for rankfault. */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kNumbers = 1000, kLimitMs = 1000, kMeetMs = 20000 };
static const ncclDataType_t kBfloat16 =
    (ncclDataType_t)9; /* ncclBfloat16, which 2.22's header hides from C */

static const char* store = "";
static int rank, ranks, steps = 10, one_stream, no_bf16_on = -1, choose_alone, by_sync, never_look,
                        one_by_one;

static void leave(int step, const char* what) {
  fprintf(stderr, "rank %d: step %d: %s\n", rank, step, what);
  _exit(3);
}

static void must(int right, const char* what) {
  if (!right) leave(0, what);
}

static void doze(void) {
  const struct timespec a_moment = {0, 200 * 1000};
  nanosleep(&a_moment, NULL);
}

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Exchanges the unique id through a file. A rename makes the file visible only when it is complete. */
static ncclComm_t meet(const char* name) {
  char place[4096], unfinished[4200];
  ncclUniqueId id;
  ncclComm_t comm;
  FILE* file;
  const long until = now_ms() + kMeetMs;
  snprintf(place, sizeof place, "%s/%s", store, name);
  snprintf(unfinished, sizeof unfinished, "%s.tmp", place);
  if (rank == 0) {
    must(ncclGetUniqueId(&id) == ncclSuccess, "ncclGetUniqueId");
    file = fopen(unfinished, "wb");
    must(file && fwrite(&id, sizeof id, 1, file) == 1 && fclose(file) == 0, unfinished);
    must(rename(unfinished, place) == 0, place);
  }
  while (!(file = fopen(place, "rb"))) {
    must(now_ms() < until, "no rank left an id");
    doze();
  }
  must(fread(&id, sizeof id, 1, file) == 1, place);
  fclose(file);
  must(ncclCommInitRank(&comm, ranks, id, rank) == ncclSuccess, "ncclCommInitRank");
  return comm;
}

static int done_in_time(cudaStream_t stream, long until, int step) {
  cudaError_t said;
  while ((said = cudaStreamQuery(stream)) == cudaErrorNotReady) {
    if (now_ms() >= until) return 0;
    doze();
  }
  if (said != cudaSuccess && !never_look) leave(step, cudaGetErrorName(said));
  return 1;
}

static void time_is_up(int signal) {
  (void)signal;
  _exit(3); /* works in any call in which the thread waits */
}

static void synchronized(cudaStream_t stream, int step) {
  alarm(2);
  const cudaError_t error = cudaStreamSynchronize(stream);
  alarm(0);
  if (error != cudaSuccess && !never_look) leave(step, cudaGetErrorName(error));
}

static ncclDataType_t type_for_all(ncclComm_t comm, cudaStream_t stream) {
  int has_bf16 = rank != no_bf16_on, *on_device;
  if (choose_alone) return has_bf16 ? kBfloat16 : ncclFloat16;
  must(cudaMalloc((void**)&on_device, sizeof *on_device) == cudaSuccess, "cudaMalloc");
  cudaMemcpy(on_device, &has_bf16, sizeof has_bf16, cudaMemcpyHostToDevice);
  must(ncclAllReduce(on_device, on_device, 1, ncclInt32, ncclMin, comm, stream) == ncclSuccess,
       "ncclAllReduce");
  must(done_in_time(stream, now_ms() + kMeetMs, 0), "the ranks do not agree on a type");
  cudaMemcpy(&has_bf16, on_device, sizeof has_bf16, cudaMemcpyDeviceToHost);
  cudaFree(on_device);
  return has_bf16 ? kBfloat16 : ncclFloat16;
}

static void read_arguments(int argc, char** argv) {
  const char *own = getenv("RANK"), *all = getenv("WORLD_SIZE");
  must(own && all, "RANK and WORLD_SIZE are not set");
  rank = atoi(own);
  ranks = atoi(all);
  for (int i = 1; i < argc; ++i) {
    one_stream |= strcmp(argv[i], "--one-stream") == 0;
    choose_alone |= strcmp(argv[i], "--choose-alone") == 0;
    by_sync |= strcmp(argv[i], "--sync") == 0;
    one_by_one |= strcmp(argv[i], "--one-by-one") == 0;
    never_look |= strcmp(argv[i], "--never-look") == 0;
    if (strncmp(argv[i], "--store=", 8) == 0) store = argv[i] + 8;
    if (strncmp(argv[i], "--steps=", 8) == 0) steps = atoi(argv[i] + 8);
    if (strncmp(argv[i], "--no-bf16-on=", 13) == 0) no_bf16_on = atoi(argv[i] + 13);
  }
}

int main(int argc, char** argv) {
  ncclComm_t comms[2];
  cudaStream_t streams[2];
  void* gradients[2];
  int devices = 0;
  read_arguments(argc, argv);
  must(cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0, "this machine has no CUDA device");
  must(cudaSetDevice(rank % devices) == cudaSuccess, "cudaSetDevice");
  signal(SIGALRM, time_is_up);
  comms[0] = meet("data");
  comms[1] = meet("experts");
  for (int i = 0; i < 2; ++i) {
    must(cudaMalloc(&gradients[i], kNumbers * 2) == cudaSuccess, "cudaMalloc");
    must(cudaMemset(gradients[i], 0, kNumbers * 2) == cudaSuccess, "cudaMemset");
    must(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) == cudaSuccess, "cudaStreamCreate");
  }
  if (one_stream) streams[1] = streams[0];
  const ncclDataType_t type = type_for_all(comms[0], streams[0]);
  for (int step = 1; step <= steps; ++step) {
    const long until = now_ms() + kLimitMs;
    printf("rank %d begins step %d\n", rank, step);
    fflush(stdout);
    for (int k = 0; k < 2; ++k) {
      const int i = (rank + k) % 2;
      const ncclResult_t asked =
          ncclAllReduce(gradients[i], gradients[i], kNumbers, type, ncclSum, comms[i], streams[i]);
      if (asked != ncclSuccess && !never_look) leave(step, ncclGetErrorString(asked));
      if (one_by_one) synchronized(streams[i], step);
    }
    for (int i = 0; i < 2; ++i) {
      if (by_sync)
        synchronized(streams[i], step);
      else if (!done_in_time(streams[i], until, step))
        leave(step, "a sum never came");
    }
    printf("rank %d committed step %d\n", rank, step);
    fflush(stdout);
  }
  for (int i = 0; i < 2; ++i) ncclCommDestroy(comms[i]);
  return 0;
}
