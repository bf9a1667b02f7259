/* decoder: the decoder of the fake library, in the form that every decoder has. */
#include "harness/agent/core.h"

static const struct rf_core_v1* core;
static int (*next_init)(int, int);
static int (*next_all_reduce)(const void*, void*, uint64_t);
static int (*next_throw)(int);
static int (*next_left_by_wrapper)(long);
static int (*next_follower)(void);
static uint32_t world = RF_NO_COMM;

struct guard {
  struct rf_call call;
  int ended;
};
static void end_on_unwind(struct guard* g) {
  if (!g->ended) core->end(&g->call, RF_RESULT_THROWN);
}
#define GUARDED(name) __attribute__((cleanup(end_on_unwind))) struct guard name

static int finish(struct guard* g, int result) {
  g->ended = 1;
  return core->end(&g->call, result);
}

static int wrap_init(int rank, int size) {
  GUARDED(g) = {.call = {.op = RF_OP_INIT,
                         .library = RF_LIB_NCCL,
                         .comm = RF_NO_COMM,
                         .peer = RF_PEER_NONE,
                         .where = __builtin_return_address(0)}};
  if (core->begin(&g.call) == RF_DO_SKIP) return finish(&g, 0);
  const int rc = next_init(rank, size);
  core->become_member(RF_LIB_NCCL, rank, size);
  const struct rf_comm_info info = {.id = 7,
                                    .handle = 7,
                                    .size = (uint32_t)size,
                                    .rank = rank,
                                    .flags = RF_COMM_POSITIONAL,
                                    .library = RF_LIB_NCCL,
                                    .identity = RF_ID_UNIQUE,
                                    .name = "fake_world"};
  world = core->comm_add(&info);
  return finish(&g, rc);
}

static int wrap_all_reduce(const void* in, void* out, uint64_t count) {
  GUARDED(g) = {.call = {.op = RF_OP_ALL_REDUCE,
                         .library = RF_LIB_NCCL,
                         .dtype = RF_DTYPE_BYTE,
                         .comm = world,
                         .peer = RF_PEER_NONE,
                         .count = count,
                         .where = __builtin_return_address(0)}};
  switch (core->begin(&g.call)) {
    case RF_DO_SKIP:
      return finish(&g, 0);
    case RF_DO_FAIL:
      return finish(&g, g.call.fail_code);
    default:
      break;
  }
  return finish(&g, next_all_reduce(in, out, g.call.changed == RF_ARG_COUNT ? g.call.changed_to : count));
}

static int wrap_throw(int code) {
  GUARDED(g) = {.call = {.op = RF_OP_BARRIER,
                         .library = RF_LIB_NCCL,
                         .comm = world,
                         .peer = RF_PEER_NONE,
                         .where = __builtin_return_address(0)}};
  core->begin(&g.call);
  return finish(&g, next_throw(code));
}

static int wrap_left_by_wrapper(long from) {
  core->become_member(RF_LIB_NCCL, 2, 4);
  GUARDED(g) = {.call = {.op = RF_OP_INIT,
                         .library = RF_LIB_NCCL,
                         .comm = RF_NO_COMM,
                         .peer = RF_PEER_NONE,
                         .where = __builtin_return_address(0)}};
  core->begin(&g.call);
  return finish(&g, next_left_by_wrapper(from));
}

static int wrap_follower(void) { return next_follower() + 1; }

static const struct rf_wrapper wrappers[] = {
    {"fake_init", (void*)wrap_init, (void**)&next_init},
    {"fake_all_reduce", (void*)wrap_all_reduce, (void**)&next_all_reduce},
    {"fake_throw", (void*)wrap_throw, (void**)&next_throw},
    {"fake_left_by_wrapper", (void*)wrap_left_by_wrapper, (void**)&next_left_by_wrapper},
    {"fake_follower", (void*)wrap_follower, (void**)&next_follower},
    {0, 0, 0}};

static int attach(const struct rf_core_v1* table, const char** reason) {
  if (table->version != RF_CORE_VERSION) {
    *reason = "core of another version";
    return 1;
  }
  core = table;
  core->coverage(RF_LIB_NCCL, "fake", 10203, RF_HOOK_PRELOAD, 0);
  return 0;
}

__attribute__((visibility("default")))
const struct rf_decoder_v1 rankfault_decoder_v1 = {.version = RF_CORE_VERSION,
                                                   .bytes = sizeof(struct rf_decoder_v1),
                                                   .name = "fake",
                                                   .library = RF_LIB_NCCL,
                                                   .wrappers = wrappers,
                                                   .attach = attach};
