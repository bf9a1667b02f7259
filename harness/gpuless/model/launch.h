// launch.h: a kernel was launched: a collective's, which the model knows, or another's, which does nothing.
#pragma once

#include "harness/gpuless/core/errors.h"
#include "harness/gpuless/core/streams.h"

namespace gpuless {

// `inside`: an address in the library whose kernels stand for collectives.
void name_collective_library(const void* inside);

// A kernel of that library without a call that the model knows is refused by name: its result would be used.
// `parameters` points to the kernel's first parameter; null when that is not known.
Error launch(const void* kernel, const StreamPtr& stream, const void* parameters);

}  // namespace gpuless
