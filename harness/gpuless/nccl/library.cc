// library.cc: tells the model which library's kernels stand for collectives: this one.
#include "harness/gpuless/model/launch.h"

__attribute__((constructor)) static void name_this_library() {
  gpuless::name_collective_library(reinterpret_cast<const void*>(&name_this_library));
}
