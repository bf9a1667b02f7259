#include "harness/evidence/call_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

namespace rankfault {
namespace {

// Each library spells the operations differently: without case and underscores the names agree.
std::string op_text(std::string_view spelled) {
  static const std::map<std::string, const char*, std::less<>> ops{
      {"allreduce", "all_reduce"},
      {"reduce", "reduce"},
      {"bcast", "broadcast"},
      {"broadcast", "broadcast"},
      {"barrier", "barrier"},
      {"monitoredbarrier", "barrier"},
      {"allgather", "all_gather"},
      {"allgatherv", "all_gather"},
      {"allgatherintotensor", "all_gather"},
      {"allgatherbase", "all_gather"},
      {"gather", "gather"},
      {"gatherv", "gather"},
      {"scatter", "scatter"},
      {"scatterv", "scatter"},
      {"reducescatter", "reduce_scatter"},
      {"reducescatterblock", "reduce_scatter"},
      {"reducescattertensor", "reduce_scatter"},
      {"alltoall", "all_to_all"},
      {"alltoallv", "all_to_all"},
      {"alltoallw", "all_to_all"},
      {"alltoallsingle", "all_to_all"},
      {"alltoallbase", "all_to_all"},
      {"scan", "scan"},
      {"exscan", "exscan"},
      {"send", "send"},
      {"ssend", "send"},
      {"bsend", "send"},
      {"rsend", "send"},
      {"recv", "receive"},
      {"probe", "receive"},
      {"sendrecv", "send_receive"},
      {"init", "init"},
      {"initthread", "init"},
      {"initprocessgroup", "init"},
      {"commrinit", "init"},
      {"comminitrank", "init"},
      {"comminitrankconfig", "init"},
      {"newgroup", "init"},
      {"finalize", "finalize"},
      {"destroyprocessgroup", "finalize"},
      {"commsplit", "comm_create"},
      {"commdup", "comm_create"},
      {"commcreate", "comm_create"},
      {"connectfullmesh", "init"},
      {"wait", "wait"},
      {"waitall", "wait"},
      {"waitany", "wait"},
      {"waitsome", "wait"},
      {"synchronize", "wait"},
      {"groupend", "wait"},
  };
  std::string key;
  for (const char c : spelled)
    if (c != '_') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found = ops.find(key);
  return found == ops.end() ? "" : found->second;
}

std::string_view last_part(std::string_view name) {
  const size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

// "gloo::(anonymous namespace)::run" and template arguments are not part of an entry's name.
std::string without_template(const std::string& name) { return name.substr(0, name.find('<')); }

}  // namespace

StackCall native_call(const std::string& function) {
  const std::string name = without_template(function);
  const auto under = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  if (under("MPI_")) return {name, op_text(name.substr(4))};
  if (under("PMPI_")) return {name.substr(1), op_text(name.substr(5))};
  if (under("nccl") || under("pnccl")) {
    const std::string plain = name[0] == 'p' ? name.substr(1) : name;
    const std::string op = op_text(plain.substr(4));
    return op.empty() ? StackCall{} : StackCall{plain, op};
  }
  // Gloo contains transports with their own send: only Gloo's own functions are calls.
  const bool gloo_call = under("gloo::") && (name.find("::", 6) == std::string::npos ||
                                             name == "gloo::rendezvous::Context::connectFullMesh");
  // c10d has its own threads that wait for work: only the calls count, by the last part of their name.
  if (gloo_call || under("c10d::ProcessGroup") || under("c10d::Work")) {
    const std::string op = op_text(last_part(name));
    return op.empty() ? StackCall{} : StackCall{name, op};
  }
  return {};
}

StackCall torch_call(const std::string& function) {
  const std::string op = op_text(function);
  return op.empty() ? StackCall{} : StackCall{"torch.distributed." + function, op};
}

}  // namespace rankfault
