#include "cuda_double/core/errors.h"

namespace cuda_double {
namespace {

thread_local Error last = kSuccess;

struct Words {
  int error;
  const char* name;
  const char* text;
};
constexpr Words kWords[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {214, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {999, "cudaErrorUnknown", "unknown error"},
};

const Words* words_of(int error) {
  for (const Words& words : kWords) {
    if (words.error == error) return &words;
  }
  return nullptr;
}

}  // namespace

Error keep(Error error) {
  if (error != kSuccess && error != kNotReady) last = error;
  return error;
}

Error last_error(bool forget) {
  Error error = last;
  if (forget) last = kSuccess;
  return error;
}

const char* error_name(int error) {
  const Words* words = words_of(error);
  return words ? words->name : "cudaErrorOfTheDouble";
}

const char* error_text(int error) {
  const Words* words = words_of(error);
  return words ? words->text : "an error without a text in this double of CUDA";
}

}  // namespace cuda_double
