// launch.h: handles a kernel launch: of a collective's kernel, which the model knows, or of any other, which
// does nothing.
#pragma once

#include "cuda_double/core/errors.h"
#include "cuda_double/core/streams.h"

namespace cuda_double {

// `inside`: an address in the library whose kernels represent collectives.
void name_collective_library(const void* inside);

// Refuses, with a message, a kernel of that library without a call that the model knows: the program would
// use its result. `parameters` points to the kernel's first parameter; null when that is not known.
Error launch(const void* kernel, const StreamPtr& stream, const void* parameters);

}  // namespace cuda_double
