// collectives.cc: NCCL's collectives, sends, receives and groups: each entry notes the call for the model and
// then passes it to NCCL.
#include "cuda_double/nccl/entries.h"

namespace cuda_double {
namespace {

struct Call {
  Function function;
  const void* in;
  void* out;
  std::size_t count;
  ncclDataType_t type;
  int reduction = 0, root = 0, peer = 0;
};

// In a communicator of one rank, a collective copies the input to the output. NCCL does this in a file of
// device code. from_source.sh replaces that file by source_extras.cc, from_archive.sh by an empty function,
// so the copy is then made here.
constexpr bool kCopyIsLeftOut = NCCL_VERSION_CODE < NCCL_VERSION(2, 29, 0);

template <class Own>
ncclResult_t of_one_rank(const Call& call, cudaStream_t stream, Own own) {
  ncclResult_t result = own();
  if (!kCopyIsLeftOut || !accepted(result) || call.function >= Function::send || call.in == call.out)
    return result;
  std::size_t bytes = call.count * bytes_of(static_cast<Type>(call.type));
  bool copied = cudaMemcpyAsync(call.out, call.in, bytes, cudaMemcpyDefault, stream) == cudaSuccess;
  return copied ? result : ncclUnhandledCudaError;
}

// Notes a call for the model, passes it to NCCL, and reports NCCL's result to the model and to the caller.
template <class Own>
ncclResult_t noted(const Call& call, ncclComm_t handle, cudaStream_t stream_handle, Own own) {
  CommunicatorPtr communicator = ready_communicator(handle);
  bool message = call.function >= Function::send;
  bool bad = static_cast<std::uint32_t>(call.type) >= kTypes || (call.count == 0 && !message);
  if (!communicator || bad) return own();
  if (communicator->ranks < 2) return of_one_rank(call, stream_handle, own);
  StreamPtr stream = Streams::all().of(stream_handle, communicator->device);
  if (!stream) return own();
  Operation operation;
  operation.communicator = communicator;
  operation.signature = {call.function, static_cast<std::uint32_t>(call.type),
                         static_cast<std::uint32_t>(call.reduction), static_cast<std::uint32_t>(call.root),
                         call.count};
  operation.in = call.in;
  operation.out = call.out;
  operation.peer = call.peer;
  if (call.reduction >= ncclNumOps) {
    std::lock_guard<std::mutex> lock(communicator->mutex);
    auto custom = communicator->reductions.find(call.reduction);
    if (custom == communicator->reductions.end()) return own();
    operation.custom = custom->second;
    operation.signature.reduction = static_cast<std::uint32_t>(Reduction::scaled_sum);
  }
  note(std::move(operation), stream);
  ncclResult_t result = own();
  settle_call(communicator, accepted(result), result == ncclInProgress);
  return result;
}

}  // namespace
}  // namespace cuda_double

using cuda_double::Function;
using cuda_double::noted;

GPULESS_ENTRY(ncclAllReduce,
              (const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::all_reduce, in, out, count, type, op}, comm, stream,
                             [&] { return own(in, out, count, type, op, comm, stream); });
              })
GPULESS_ENTRY(ncclBroadcast,
              (const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::broadcast, in, out, count, type, 0, root}, comm, stream,
                             [&] { return own(in, out, count, type, root, comm, stream); });
              })
GPULESS_ENTRY(ncclBcast,
              (void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::broadcast, buffer, buffer, count, type, 0, root}, comm, stream,
                             [&] { return own(buffer, count, type, root, comm, stream); });
              })
GPULESS_ENTRY(ncclReduce,
              (const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
               ncclComm_t comm, cudaStream_t stream),
              {
                return noted({Function::reduce, in, out, count, type, op, root}, comm, stream,
                             [&] { return own(in, out, count, type, op, root, comm, stream); });
              })
GPULESS_ENTRY(ncclAllGather,
              (const void* in, void* out, size_t count, ncclDataType_t type, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::all_gather, in, out, count, type}, comm, stream,
                             [&] { return own(in, out, count, type, comm, stream); });
              })
GPULESS_ENTRY(ncclReduceScatter,
              (const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::reduce_scatter, in, out, count, type, op}, comm, stream,
                             [&] { return own(in, out, count, type, op, comm, stream); });
              })
GPULESS_ENTRY(ncclSend,
              (const void* in, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::send, in, nullptr, count, type, 0, 0, peer}, comm, stream,
                             [&] { return own(in, count, type, peer, comm, stream); });
              })
GPULESS_ENTRY(ncclRecv,
              (void* out, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream),
              {
                return noted({Function::receive, nullptr, out, count, type, 0, 0, peer}, comm, stream,
                             [&] { return own(out, count, type, peer, comm, stream); });
              })
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
GPULESS_ENTRY(ncclAlltoAll,
              (const void* in, void* out, size_t count, ncclDataType_t type, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::all_to_all, in, out, count, type}, comm, stream,
                             [&] { return own(in, out, count, type, comm, stream); });
              })
GPULESS_ENTRY(ncclGather,
              (const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::gather, in, out, count, type, 0, root}, comm, stream,
                             [&] { return own(in, out, count, type, root, comm, stream); });
              })
GPULESS_ENTRY(ncclScatter,
              (const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
               cudaStream_t stream),
              {
                return noted({Function::scatter, in, out, count, type, 0, root}, comm, stream,
                             [&] { return own(in, out, count, type, root, comm, stream); });
              })
#endif

GPULESS_ENTRY(ncclGroupStart, (), {
  ncclResult_t result = own();
  if (result == ncclSuccess) cuda_double::begin_group();
  return result;
})
GPULESS_ENTRY(ncclGroupEnd, (), {
  cuda_double::close_group();
  ncclResult_t result = own();
  cuda_double::settle_group(cuda_double::accepted(result), result == ncclInProgress);
  cuda_double::adopt_communicators();
  return result;
})
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 0)
GPULESS_ENTRY(ncclGroupSimulateEnd, (ncclSimInfo_t * info), {
  cuda_double::drop_group();
  return own(info);
})
#endif
