#include "harness/reproduce/logs/call_words.h"

#include <cctype>
#include <utility>

namespace rankfault {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

// Names in lower case and without underscores.
constexpr Word kC10d[] = {
    {"allreduce", "all_reduce"},
    {"allreducecoalesced", "all_reduce"},
    {"allreducesparse", "all_reduce"},
    {"broadcast", "broadcast"},
    {"broadcastoop", "broadcast"},
    {"reduce", "reduce"},
    {"reduceoop", "reduce"},
    {"allgather", "all_gather"},
    {"allgatherbase", "all_gather"},
    {"allgathercoalesced", "all_gather"},
    {"allgatherintotensorcoalesced", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"reducescatterbase", "reduce_scatter_block"},
    {"reducescattertensorcoalesced", "reduce_scatter_block"},
    {"alltoall", "all_to_allv"},
    {"alltoallbase", "all_to_allv"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"send", "send"},
    {"recv", "recv"},
    {"recvanysource", "recv"},
    {"barrier", "barrier"},
};

constexpr Word kMpi[] = {
    {"allreduce", "all_reduce"},
    {"bcast", "broadcast"},
    {"reduce", "reduce"},
    {"allgather", "all_gather"},
    {"allgatherv", "all_gatherv"},
    {"reducescatter", "reduce_scatter"},
    {"reducescatterblock", "reduce_scatter_block"},
    {"alltoall", "all_to_all"},
    {"alltoallv", "all_to_allv"},
    {"alltoallw", "all_to_allw"},
    {"gather", "gather"},
    {"gatherv", "gatherv"},
    {"scatter", "scatter"},
    {"scatterv", "scatterv"},
    {"scan", "scan"},
    {"exscan", "exscan"},
    {"barrier", "barrier"},
    {"send", "send"},
    {"bsend", "send"},
    {"rsend", "send"},
    {"isend", "send"},
    {"ssend", "ssend"},
    {"issend", "ssend"},
    {"recv", "recv"},
    {"irecv", "recv"},
    {"mrecv", "recv"},
    {"sendrecv", "sendrecv"},
    {"sendrecvreplace", "sendrecv"},
    {"probe", "probe"},
    {"wait", "wait"},
    {"waitall", "wait"},
    {"waitany", "wait_any"},
    {"waitsome", "wait_any"},
    {"init", "init"},
    {"initthread", "init"},
    {"finalize", "finalize"},
    {"commcreate", "comm_create"},
    {"commcreategroup", "comm_create"},
    {"commdup", "comm_create"},
    {"commsplit", "comm_create"},
    {"commfree", "comm_free"},
};

constexpr Word kNccl[] = {
    {"allreduce", "all_reduce"},
    {"broadcast", "broadcast"},
    {"bcast", "broadcast"},
    {"reduce", "reduce"},
    {"allgather", "all_gather"},
    {"reducescatter", "reduce_scatter_block"},
    {"alltoall", "all_to_all"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"send", "send"},
    {"recv", "recv"},
    {"sendrecv", "sendrecv"},
    {"groupend", "group"},
    {"comminitrank", "comm_create"},
    {"comminitrankconfig", "comm_create"},
    {"comminitrankscalable", "comm_create"},
    {"comminitall", "comm_create"},
    {"commsplit", "comm_create"},
    {"commabort", "comm_abort"},
    {"commdestroy", "comm_free"},
};

constexpr Word kTorch[] = {
    {"allreduce", "all_reduce"},
    {"allreducecoalesced", "all_reduce"},
    {"broadcast", "broadcast"},
    {"broadcastobjectlist", "broadcast"},
    {"reduce", "reduce"},
    {"allgather", "all_gather"},
    {"allgatherobject", "all_gather"},
    {"allgatherintotensor", "all_gather"},
    {"allgatherbase", "all_gather"},
    {"allgathersingle", "all_gather"},
    {"allgathercoalesced", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"reducescattertensor", "reduce_scatter_block"},
    {"reducescatterbase", "reduce_scatter_block"},
    {"reducescattersingle", "reduce_scatter_block"},
    {"alltoall", "all_to_allv"},
    {"alltoallsingle", "all_to_allv"},
    {"gather", "gather"},
    {"gatherobject", "gather"},
    {"scatter", "scatter"},
    {"scatterobjectlist", "scatter"},
    {"send", "send"},
    {"isend", "send"},
    {"sendobjectlist", "send"},
    {"recv", "recv"},
    {"irecv", "recv"},
    {"recvobjectlist", "recv"},
    {"batchisendirecv", "group"},
    {"barrier", "barrier"},
    {"monitoredbarrier", "barrier"},
    {"initprocessgroup", "init"},
    {"storebasedbarrier", "init"},
    {"newgroup", "comm_create"},
    {"newsubgroups", "comm_create"},
    {"splitgroup", "comm_create"},
    {"destroyprocessgroup", "comm_free"},
};

constexpr Word kC10dTypes[] = {
    {"float", "float32"},
    {"double", "float64"},
    {"half", "float16"},
    {"bfloat16", "bfloat16"},
    {"byte", "uint8"},
    {"char", "int8"},
    {"short", "int16"},
    {"int", "int32"},
    {"long", "int64"},
    {"bool", "bool"},
    {"complexfloat", "complex64"},
    {"complexdouble", "complex128"},
    {"float8e4m3fn", "float8_e4m3"},
    {"float8e5m2", "float8_e5m2"},
};

constexpr Word kMpiTypes[] = {
    {"int", "int32"},
    {"integer", "int32"},
    {"float", "float32"},
    {"real", "float32"},
    {"double", "float64"},
    {"doubleprecision", "float64"},
    {"byte", "byte"},
    {"char", "int8"},
    {"signedchar", "int8"},
    {"unsignedchar", "uint8"},
    {"short", "int16"},
    {"unsigned", "uint32"},
    {"unsignedshort", "uint16"},
    {"long", "int64"},
    {"longlong", "int64"},
    {"longlongint", "int64"},
    {"unsignedlong", "uint64"},
    {"unsignedlonglong", "uint64"},
    {"cbool", "bool"},
    {"int8t", "int8"},
    {"int16t", "int16"},
    {"int32t", "int32"},
    {"int64t", "int64"},
    {"uint8t", "uint8"},
    {"uint16t", "uint16"},
    {"uint32t", "uint32"},
    {"uint64t", "uint64"},
};

template <size_t N>
std::string word_of(std::string_view name, const Word (&words)[N]) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [theirs, ours] : words)
    if (plain == theirs) return std::string(ours);
  return "";
}

std::string_view without(std::string_view name, std::string_view begin) {
  return name.substr(0, begin.size()) == begin ? name.substr(begin.size()) : name;
}

}  // namespace

std::string op_of_c10d(std::string_view op_type) { return word_of(op_type, kC10d); }
std::string op_of_mpi(std::string_view function) {
  return word_of(without(without(without(function, "internal_"), "PMPI_"), "MPI_"), kMpi);
}
std::string op_of_nccl(std::string_view function) {
  return word_of(without(without(function, "pnccl"), "nccl"), kNccl);
}
std::string op_of_torch(std::string_view function) { return word_of(function, kTorch); }
std::string dtype_of_c10d(std::string_view name) { return word_of(name, kC10dTypes); }
std::string dtype_of_mpi(std::string_view name) { return word_of(without(name, "MPI_"), kMpiTypes); }

}  // namespace rankfault
