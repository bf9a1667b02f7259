// Tests of the last error of a thread after a call of CUDA was made to fail: points.c alone, with a core and
// a runtime whose answers the test sets.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <thread>
#include <utility>

extern "C" {
#include "harness/backends/nccl/points.h"

const struct rf_core_v1* rf_core;
void *next_cudaGetLastError, *next_cudaPeekAtLastError;
cudaError_t wrap_cudaGetLastError(void);
cudaError_t wrap_cudaPeekAtLastError(void);

struct rf_call rf_call_on(uint16_t op, ncclComm_t, const void*) {
  rf_call call{};
  call.op = op;
  return call;
}
int rf_is_of_nccl(const void*) { return 0; }
}

namespace {

thread_local cudaError_t runtimes_own = cudaSuccess;
cudaError_t get_own() { return std::exchange(runtimes_own, cudaSuccess); }
cudaError_t peek_own() { return runtimes_own; }

int fail_code = 0;
rf_verdict fails(rf_call* call) {
  call->fail_code = fail_code;
  return RF_DO_FAIL;
}

class LastError : public ::testing::Test {
 protected:
  LastError() {
    core_.inner_begin = fails;
    rf_core = &core_;
    next_cudaGetLastError = reinterpret_cast<void*>(get_own);
    next_cudaPeekAtLastError = reinterpret_cast<void*>(peek_own);
    runtimes_own = cudaSuccess;
  }
  // Returns the result of the wrapper of such a call.
  static int made_to_fail(const char* name, int error) {
    rf_device_point point;
    fail_code = error;
    EXPECT_EQ(rf_point_begin(&point, RF_OP_DEVICE_LAUNCH, name, 0, nullptr), 0);
    return rf_point_failed(&point, name);
  }
  rf_core_v1 core_{};
};

TEST_F(LastError, IsTheRuntimesWhereNothingWasMadeToFail) {
  runtimes_own = cudaErrorInvalidValue;
  EXPECT_EQ(wrap_cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(wrap_cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(wrap_cudaGetLastError(), cudaSuccess);
}

TEST_F(LastError, IsThatOfTheFailedCallUntilItWasAskedFor) {
  EXPECT_EQ(made_to_fail("cudaLaunchKernel", cudaErrorLaunchFailure), cudaErrorLaunchFailure);
  EXPECT_EQ(wrap_cudaPeekAtLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(wrap_cudaPeekAtLastError(), cudaErrorLaunchFailure) << "looking does not forget it";
  EXPECT_EQ(wrap_cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(wrap_cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(wrap_cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(LastError, OnceAskedForTheRuntimesOwnIsForgottenToo) {
  runtimes_own = cudaErrorInvalidValue;
  made_to_fail("cudaMalloc", cudaErrorMemoryAllocation);
  EXPECT_EQ(wrap_cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(wrap_cudaGetLastError(), cudaSuccess);
}

TEST_F(LastError, OfOneThreadIsNotThatOfAnother) {
  made_to_fail("cudaMalloc", cudaErrorMemoryAllocation);
  std::thread([] {
    EXPECT_EQ(wrap_cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(wrap_cudaGetLastError(), cudaSuccess);
  }).join();
  EXPECT_EQ(wrap_cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST_F(LastError, TheDriverKeepsNone) {
  EXPECT_EQ(made_to_fail("cuLaunchKernel", 719), 719);
  EXPECT_EQ(wrap_cudaGetLastError(), cudaSuccess);
}

TEST_F(LastError, AnErrorWithoutANumberIsUnknown) {
  EXPECT_EQ(made_to_fail("cudaMalloc", -1), cudaErrorUnknown);
  EXPECT_EQ(wrap_cudaGetLastError(), cudaErrorUnknown);
}

}  // namespace
