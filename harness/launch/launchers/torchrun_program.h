// torchrun_program: which torchrun a workload starts, which Python runs it, and the version of its PyTorch.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace rankfault {

inline constexpr const char* kHowToAddTorch = "to add it: RANKFAULT_TORCH=torch==2.13.0 ./dev build";
inline constexpr const char* kHowToAddTorchCuda = "to add it: ./dev torch-nccl";

struct TorchrunProgram {
  std::vector<std::string> words{};  // the words that start it; empty: there is none
  std::string python{};              // its interpreter; "": unknown, as the program is not a Python script
  std::string version{};             // "2.13.0+cpu"; "": not known
  std::string libraries{};           // the folder of its PyTorch's own libraries; "": not known
  std::string missing{};             // why it cannot be used; "": it can
  std::string slow{};                // it did not answer in time, so that it is not known whether it can be
                                     // used

  bool old_abi = false;  // built with the older ABI of C++: its functions have other names

  bool records_calls() const;  // a version that the decoder knows; true if the version is not known
  bool is_pytorch_1() const { return version.starts_with("1."); }
};

// torchrun starts Python itself: `python train.py` means train.py.
bool is_python(const std::string& word);
// A Python, or a script whose first line names one.
bool is_script_of_python(const std::string& program);

// The scenario's, else $RANKFAULT_PYTHON, else the torchrun on PATH, else python3 if it has torch. Over the
// double of CUDA: the scenario's, else $RANKFAULT_PYTHON if its PyTorch is built with CUDA, else that of
// `./dev torch-nccl`, else as above. Each is asked once.
const TorchrunProgram& torchrun_program(const Workload&);

// kMissing: its PyTorch lacks what the workload needs.
Status torch_needs_met(const Workload&);

}  // namespace rankfault
