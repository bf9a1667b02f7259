/* points.c: see points.h. */
#include "points.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "streams.h"

int rf_point_begin(struct rf_device_point* p, uint16_t op, const char* name, uint64_t bytes,
                   const void* where) {
  snprintf(p->path, sizeof p->path, "%s:%s", rf_is_of_nccl(where) ? "nccl" : "program", name);
  p->call = rf_call_on(op, NULL, where);
  p->call.library = RF_LIB_CUDA;
  p->call.path = p->path;
  p->call.count = bytes;
  return rf_core->inner_begin(&p->call) != RF_DO_FAIL;
}

/* ---- the last error of a thread: the stub of a <<<launch>>> drops the result, and the program reads this */

static struct last_error {
  uint64_t thread; /* 0: free */
  int error;
} last_errors[64];

static struct last_error* mine(int claim) {
  const uint64_t me = (uint64_t)syscall(SYS_gettid);
  struct last_error* const e = &last_errors[me % 64];
  if (claim) RF_STORE(&e->thread, me);
  return RF_LOAD(&e->thread) == me ? e : NULL;
}

static uint32_t any_failed;

int rf_point_failed(struct rf_device_point* p, const char* name) {
  const int error = p->call.fail_code > 0 ? p->call.fail_code : cudaErrorUnknown;
  if (strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0) return error; /* the driver keeps none */
  mine(1)->error = error;
  RF_STORE(&any_failed, 1u);
  return error;
}

cudaError_t wrap_cudaGetLastError(void) {
  cudaError_t (*const next)(void) = (cudaError_t(*)(void))next_cudaGetLastError;
  struct last_error* const e = RF_LOAD(&any_failed) ? mine(0) : NULL;
  if (!e || !e->error) return next();
  const int error = e->error;
  e->error = 0;
  next();
  return (cudaError_t)error;
}
cudaError_t wrap_cudaPeekAtLastError(void) {
  cudaError_t (*const next)(void) = (cudaError_t(*)(void))next_cudaPeekAtLastError;
  const struct last_error* const e = RF_LOAD(&any_failed) ? mine(0) : NULL;
  return e && e->error ? (cudaError_t)e->error : next();
}
