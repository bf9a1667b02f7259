// not_modelled.cc: the functions of the runtime that the double does not model. Each prints its name and
// returns "not supported".
#include <string>

#include "cuda_double/core/errors.h"
#include "cuda_double/core/settings.h"

// The arguments are ignored, so one signature fits all functions.
#define GPULESS_NOT_MODELLED(name)                                                                 \
  extern "C" __attribute__((visibility("default"))) int cuda_double_no_##name(...) __asm__(#name); \
  int cuda_double_no_##name(...) {                                                                 \
    cuda_double::say_once(#name " is not modelled");                                               \
    return cuda_double::keep(cuda_double::kNotSupported);                                          \
  }
#include "not_modelled.def"
