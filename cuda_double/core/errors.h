// errors.h: CUDA's public error numbers that the double returns, and each thread's last error.
#pragma once

namespace cuda_double {

enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidSymbol = 13,
  kInvalidMemcpyDirection = 21,
  kInvalidDevice = 101,
  kInvalidHandle = 400,
  kSymbolNotFound = 500,
  kNotReady = 600,
  kHostMemoryNotRegistered = 713,
  kNotSupported = 801,
};

// Keeps `error` as this thread's last error, unless it is success or "not ready"; returns it.
Error keep(Error error);
// This thread's last error; `forget` resets it.
Error last_error(bool forget);
const char* error_name(int error);
const char* error_text(int error);

}  // namespace cuda_double
