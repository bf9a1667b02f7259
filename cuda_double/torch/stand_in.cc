// stand_in.cc: the functions of one library of CUDA that PyTorch imports and that by_hand.cc does not define;
// stand_ins.py makes the list.
#include <cstdlib>
#include <string>

#include "cuda_double/core/not_computed.h"
#include "cuda_double/core/settings.h"

// The arguments are ignored, so one signature fits all functions.
#define GPULESS_DEFINE(name, ...)                                                                  \
  extern "C" __attribute__((visibility("default"))) int cuda_double_of_##name(...) __asm__(#name); \
  int cuda_double_of_##name(...) { __VA_ARGS__ }
#define GPULESS_ACCEPTS(name) GPULESS_DEFINE(name, return 0;)
#define GPULESS_COMPUTES(name) GPULESS_DEFINE(name, cuda_double::count_not_computed(); return 0;)
#define GPULESS_NOT_MODELLED(name, status) GPULESS_DEFINE(name, return refuse(#name, status);)

namespace {
// A negative status: the library has no number for it.
[[maybe_unused]] int refuse(const char* name, int status) {
  cuda_double::say_once(std::string(name) + " is not modelled");
  if (status < 0) std::abort();
  return status;
}
}  // namespace

#include "answers.def"
