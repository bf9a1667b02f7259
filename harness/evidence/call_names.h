// call_names: which function of which library is a communication call, and what it does.
#pragma once

#include <string>

namespace rankfault {

struct StackCall {
  std::string name;  // the outermost known entry: "MPI_Barrier", "torch.distributed.all_reduce"; "" none
  std::string op;    // what it does, whatever the library: "barrier"; "wait": for something begun before
};

StackCall native_call(const std::string& function);  // no call: both are ""
// A function of torch/distributed/distributed_c10d.py.
StackCall torch_call(const std::string& function);

}  // namespace rankfault
