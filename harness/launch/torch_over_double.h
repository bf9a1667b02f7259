// torch_over_double: whether a PyTorch can run over the double of CUDA (cuda_double/README.md), from its
// files alone.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/launch/cuda_double.h"

namespace rankfault {

struct TorchFiles {
  std::string version, python;
  std::string libraries;  // the folder of its own libraries
};

// A build with CUDA, as the ordinary wheels for Linux are.
bool is_cuda_torch(const std::string& libraries);

// Errors are the user's: PyTorch is built without CUDA, the loader would take NVIDIA's own libraries, or the
// double lacks a library or a function that PyTorch imports. Python binds every function when it loads
// PyTorch, so one that is missing ends the script at `import torch`.
Status check_torch_over_double(const CudaDouble&, const TorchFiles&, const SourcePos& where);

}  // namespace rankfault
