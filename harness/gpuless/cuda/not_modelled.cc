// not_modelled.cc: the functions of the runtime that the double does not model. Each prints its name and
// returns "not supported".
#include <string>

#include "harness/gpuless/core/errors.h"
#include "harness/gpuless/core/settings.h"

// The arguments are ignored, so one signature fits all functions.
#define GPULESS_NOT_MODELLED(name)                                                             \
  extern "C" __attribute__((visibility("default"))) int gpuless_no_##name(...) __asm__(#name); \
  int gpuless_no_##name(...) {                                                                 \
    gpuless::say_once(#name " is not modelled");                                               \
    return gpuless::keep(gpuless::kNotSupported);                                              \
  }
#include "not_modelled.def"
