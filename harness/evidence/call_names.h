// call_names: recognises communication calls by the names of library functions, and names their operation.
#pragma once

#include <string>

namespace rankfault {

struct StackCall {
  std::string name;  // the outermost known entry: "MPI_Barrier", "torch.distributed.all_reduce"; "" none
  std::string op;    // its operation, for every library: "barrier"; "wait": for earlier work
};

StackCall native_call(const std::string& function);  // no call: both are ""
// For a function of torch/distributed/distributed_c10d.py.
StackCall torch_call(const std::string& function);

}  // namespace rankfault
