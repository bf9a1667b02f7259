// not_modelled.cc: functions of the runtime that the double does not have: each says its name and is "not
// supported".
#include <string>

#include "harness/gpuless/core/errors.h"
#include "harness/gpuless/core/settings.h"

// The arguments are not looked at, so that one shape fits all.
#define GPULESS_NOT_MODELLED(name)                                                             \
  extern "C" __attribute__((visibility("default"))) int gpuless_no_##name(...) __asm__(#name); \
  int gpuless_no_##name(...) {                                                                 \
    gpuless::say_once(#name " is not modelled");                                               \
    return gpuless::keep(gpuless::kNotSupported);                                              \
  }
#include "not_modelled.def"
