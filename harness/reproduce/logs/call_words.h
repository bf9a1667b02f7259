// call_words: our words for the calls that PyTorch, MPI and NCCL write into their messages.
#pragma once

#include <string>
#include <string_view>

namespace rankfault {

// "ALLREDUCE", "_ALLGATHER_BASE" of c10d's OpType; "COALESCED" is not a call: "".
std::string op_of_c10d(std::string_view op_type);
// "MPI_Allreduce", "PMPI_Allreduce", "internal_Allreduce".
std::string op_of_mpi(std::string_view function);
// "AllReduce" of RAS, "ncclAllReduce".
std::string op_of_nccl(std::string_view function);
// A function of torch/distributed: "all_reduce", "all_gather_into_tensor", "monitored_barrier".
std::string op_of_torch(std::string_view function);
// "Float" of c10d, "MPI_INT".
std::string dtype_of_c10d(std::string_view name);
std::string dtype_of_mpi(std::string_view name);

}  // namespace rankfault
