/* nccl.c: the decoder for NCCL 2: its data for the core, and what its wrappers share. */
#include "decoder.h"
#include "streams.h"

const struct rf_core_v1* rf_core;

#define RF_WRAPPED(name) void* next_##name;
#include "wrapped.def"
#undef RF_WRAPPED

/* Only the addresses of the wrappers matter here; the files that define them have their types. */
#define RF_WRAPPED(name) \
  extern const char address_of_##name __asm__("wrap_" #name) __attribute__((visibility("hidden")));
#include "wrapped.def"
#undef RF_WRAPPED

static const struct rf_wrapper kWrappers[] = {
#define RF_WRAPPED(name) {#name, (void*)&address_of_##name, &next_##name},
#include "wrapped.def"
#undef RF_WRAPPED
    {NULL, NULL, NULL}};

static const uint8_t kTypes[] = {
    [ncclInt8] = RF_DTYPE_INT8,       [ncclUint8] = RF_DTYPE_UINT8,     [ncclInt32] = RF_DTYPE_INT32,
    [ncclUint32] = RF_DTYPE_UINT32,   [ncclInt64] = RF_DTYPE_INT64,     [ncclUint64] = RF_DTYPE_UINT64,
    [ncclFloat16] = RF_DTYPE_FLOAT16, [ncclFloat32] = RF_DTYPE_FLOAT32, [ncclFloat64] = RF_DTYPE_FLOAT64,
    [9] = RF_DTYPE_BFLOAT16,          [10] = RF_DTYPE_FLOAT8_E4M3,      [11] = RF_DTYPE_FLOAT8_E5M2,
};

/* A program may take NCCL's functions from a handle and bypass the decoder: only a call that arrived shows
 * that calls are seen. Until then the record has this reason. */
static const char kNoneSeen[] = "no call of it was seen";
static uint32_t nccl_version, nccl_seen;

static void note_seen(uint16_t op) {
  if (RF_LOAD(&nccl_seen) || op == RF_OP_STREAM_WAIT || rf_is_inner(op)) return; /* these belong to CUDA */
  RF_STORE(&nccl_seen, 1u);
  rf_core->coverage(RF_LIB_NCCL, "nccl", nccl_version, RF_HOOK_PRELOAD, "");
}

struct rf_call rf_call_on(uint16_t op, ncclComm_t comm, const void* where) {
  note_seen(op);
  return (struct rf_call){
      .op = op,
      .library = RF_LIB_NCCL,
      .comm = comm ? rf_core->comm_find(RF_LIB_NCCL, (uint64_t)(uintptr_t)comm, 0) : RF_NO_COMM,
      .peer = RF_PEER_NONE,
      .recv_peer = RF_PEER_NONE,
      .where = where};
}

void rf_set_elements(struct rf_call* call, size_t count, ncclDataType_t type) {
  call->count = count;
  call->dtype = (size_t)type < sizeof(kTypes) ? kTypes[type] : RF_DTYPE_OTHER;
  if (count == 0) call->seq = RF_SEQ_NONE; /* the library returns at once and does not count the call */
}

ncclResult_t rf_not_made(const struct rf_call* call, enum rf_verdict verdict) {
  if (verdict == RF_DO_SKIP) return ncclSuccess;
  return call->fail_code > 0 ? (ncclResult_t)call->fail_code : ncclInternalError;
}

static int attach(const struct rf_core_v1* core, const char** reason) {
  int version = 0;
  if (core->version != RF_CORE_VERSION || core->bytes < sizeof(*core)) {
    *reason = "core version";
    return -1;
  }
  rf_core = core;
  ncclResult_t (*get)(int*) = (ncclResult_t(*)(int*))core->resolve("ncclGetVersion");
  if (!get || get(&version) != ncclSuccess || version < 20000 || version >= 30000) {
    *reason = "NCCL version not known";
    return -1;
  }
  nccl_version = (uint32_t)version;
  core->coverage(RF_LIB_NCCL, "nccl", nccl_version, RF_HOOK_NONE, kNoneSeen);
  rf_callers_learn();
  /* If no library offers the runtime, it is a part of the program (or of NCCL alone), and waits are not
   * visible: no wait is recorded, and nothing of this process is proven. */
  if (core->resolve("cudaStreamSynchronize"))
    core->coverage(RF_LIB_CUDA, "nccl", 0, RF_HOOK_PRELOAD, "");
  else
    core->coverage(RF_LIB_CUDA, NULL, 0, RF_HOOK_NONE, "CUDA runtime linked statically");
  return 0;
}

__attribute__((visibility("default"))) const struct rf_decoder_v1 rankfault_decoder_v1 = {
    .version = RF_CORE_VERSION,
    .bytes = sizeof(struct rf_decoder_v1),
    .name = "nccl",
    .library = RF_LIB_NCCL,
    .wrappers = kWrappers,
    .attach = attach,
};
