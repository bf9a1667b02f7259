// torch_calls.cc: the functions that a PyTorch program calls: the methods of c10d::ProcessGroupGloo. They
// return when their work is submitted; torch_execution.cc sees it complete.
#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "harness/backends/gloo/torch_gloo.h"

namespace rankfault::gloo_decoder {

bool begins_a_pass(std::atomic<int>& last) {
  const int pass = torch_function.autograd_pass ? torch_function.autograd_pass() : -1;
  return pass >= 0 && last.exchange(pass + 1, std::memory_order_relaxed) != pass + 1;
}

namespace {

uint64_t numel(const Tensor& tensor) {
  int64_t n = 0;
  return torch_function.numel(&tensor, &n) == 0 && n > 0 ? static_cast<uint64_t>(n) : 0;
}
uint64_t numel(const Tensors& tensors) {
  uint64_t n = 0;
  for (const Tensor& tensor : tensors) n += numel(tensor);
  return n;
}

rf_dtype dtype(const Tensor& tensor) {
  int32_t scalar_type = -1;
  return torch_function.dtype(&tensor, &scalar_type) == 0 ? layout::dtype_of_scalar_type(scalar_type)
                                                          : RF_DTYPE_OTHER;
}
rf_dtype dtype(const Tensors& tensors) { return tensors.empty() ? RF_DTYPE_OTHER : dtype(tensors[0]); }

rf_reduce_op reduce_op_of(const void* reduce_options) {
  return layout::reduce_op_of(layout::at<uint8_t>(reduce_options, torch.offsets->enum_of_reduce_op));
}

// Calls on an unknown group are missing from the counts of its communicator.
uint32_t comm_of(void* group) {
  const uint64_t comm = state().groups.get(group);
  if (comm != PointerMap<1>::kAbsent) return static_cast<uint32_t>(comm);
  core->opaque(RF_OPAQUE_COMMUNICATION);
  return RF_NO_COMM;
}

// `like` gives the element type and the count.
template <typename T>
rf_call call_on(void* group, rf_op op, const T& like, const void* where) {
  rf_call call = make_call(RF_LIB_C10D, op, where);
  call.comm = comm_of(group);
  call.flags = RF_CALL_NONBLOCKING;
  call.count = numel(like);
  call.dtype = dtype(like);
  return call;
}

Fate fate_of(rf_verdict verdict) {
  return verdict == RF_DO_SKIP ? Fate::kSkip : verdict == RF_DO_FAIL ? Fate::kFail : Fate::kRun;
}

bool begins_a_pass_on(uint32_t comm) {
  static std::atomic<int> last_pass[RF_MAX_COMMS];  // by number of the communicator
  return comm != RF_NO_COMM && begins_a_pass(last_pass[comm % RF_MAX_COMMS]);
}

// The library counts its calls for its own logs; this removes a call that was never made from the count.
class UncountedCall {
 public:
  UncountedCall(void* group, bool is)
      : place_(is ? counter(group) : nullptr), before_(place_ ? *place_ : 0) {}
  UncountedCall(const UncountedCall&) = delete;
  UncountedCall& operator=(const UncountedCall&) = delete;
  ~UncountedCall() {
    if (place_) *place_ = before_;
  }

 private:
  static uint64_t* counter(void* group) {
    const uint32_t offset = torch_function.sequence ? offset_of_getter(torch_function.sequence) : 0;
    return offset ? reinterpret_cast<uint64_t*>(static_cast<char*>(group) + offset) : nullptr;
  }
  uint64_t* place_;
  uint64_t before_;
};

// Submits the call. Its work carries the fate: skipped work completes without running, failed work completes
// with an error; see torch_execution.cc.
template <typename Forward>
WorkHandle submit(void* group, rf_call& call, Forward forward) {
  if (state().current()) return forward();  // the library's own call inside another one
  RecordedCall recorded(call);
  CurrentCall current{.call = &call, .group = group, .fate = fate_of(recorded.verdict())};
  if (current.fate == Fate::kFail && (call.op == RF_OP_SEND || call.op == RF_OP_RECV))
    throw std::runtime_error(
        "[rankfault] Connection closed by peer (injected)");  // nothing is queued to fail later
  const UncountedCall uncounted(group, current.fate == Fate::kSkip);
  WorkHandle handle = [&] {
    const Within within(current);
    return forward();
  }();
  if (!recorded.outermost()) {
    recorded.returned();
    return handle;
  }
  if (current.lead == PointerMap<1>::kAbsent) {  // nothing was queued: a send or a receive
    state().keep_work(handle.work, state().open(current));
  }
  recorded.enqueued();
  if (Pending* lead = state().find(current.lead)) state().close(*lead, false);
  return handle;
}

#define HERE __builtin_return_address(0)

WorkHandle allreduce(void* self, Tensors& tensors, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_REDUCE, tensors, HERE);
  call.reduce_op = reduce_op_of(options);
  call.flags |= RF_CALL_IN_PLACE;
  if (begins_a_pass_on(call.comm)) call.flags |= RF_CALL_NEW_PASS;
  return submit(self, call, [&] { return torch_next.allreduce(self, tensors, options); });
}
WorkHandle allreduce_sparse(void* self, Tensors& tensors, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_REDUCE, Tensors{}, HERE);
  call.flags |= RF_CALL_COUNT_UNKNOWN;
  return submit(self, call, [&] { return torch_next.allreduce_sparse(self, tensors, options); });
}
WorkHandle allreduce_coalesced(void* self, Tensors& tensors, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_REDUCE, tensors, HERE);
  call.reduce_op = reduce_op_of(options);
  call.flags |= RF_CALL_IN_PLACE;
  return submit(self, call, [&] { return torch_next.allreduce_coalesced(self, tensors, options); });
}
WorkHandle broadcast(void* self, Tensors& tensors, const void* options) {
  rf_call call = call_on(self, RF_OP_BROADCAST, tensors, HERE);
  call.peer = static_cast<int32_t>(layout::at<int64_t>(options, layout::kRootOfOtherOptions));
  return submit(self, call, [&] { return torch_next.broadcast(self, tensors, options); });
}
WorkHandle reduce(void* self, Tensors& tensors, const void* options) {
  rf_call call = call_on(self, RF_OP_REDUCE, tensors, HERE);
  call.reduce_op = reduce_op_of(options);
  call.peer = static_cast<int32_t>(layout::at<int64_t>(options, torch.offsets->root_of_reduce_options));
  return submit(self, call, [&] { return torch_next.reduce(self, tensors, options); });
}
WorkHandle allgather(void* self, TensorLists& outputs, Tensors& inputs, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_GATHER, inputs, HERE);
  return submit(self, call, [&] { return torch_next.allgather(self, outputs, inputs, options); });
}
WorkHandle allgather_base(void* self, Tensor& output, Tensor& input, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_GATHER, input, HERE);
  return submit(self, call, [&] { return torch_next.allgather_base(self, output, input, options); });
}
WorkHandle allgather_coalesced(void* self, TensorLists& outputs, Tensors& inputs, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_GATHER, inputs, HERE);
  return submit(self, call, [&] { return torch_next.allgather_coalesced(self, outputs, inputs, options); });
}
WorkHandle allgather_into_tensor_coalesced(void* self, Tensors& outputs, Tensors& inputs,
                                           const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_GATHER, inputs, HERE);
  return submit(self, call,
                [&] { return torch_next.allgather_into_tensor_coalesced(self, outputs, inputs, options); });
}
WorkHandle gather(void* self, TensorLists& outputs, Tensors& inputs, const void* options) {
  rf_call call = call_on(self, RF_OP_GATHER, inputs, HERE);
  call.peer = static_cast<int32_t>(layout::at<int64_t>(options, layout::kRootOfOtherOptions));
  return submit(self, call, [&] { return torch_next.gather(self, outputs, inputs, options); });
}
WorkHandle scatter(void* self, Tensors& outputs, TensorLists& inputs, const void* options) {
  rf_call call = call_on(self, RF_OP_SCATTER, outputs, HERE);
  call.peer = static_cast<int32_t>(layout::at<int64_t>(options, layout::kRootOfOtherOptions));
  return submit(self, call, [&] { return torch_next.scatter(self, outputs, inputs, options); });
}
// Its wait copies a clone of the input to the output, also if the call was not made.
const char* why_not_skip(void*) { return "the wait of a reduce_scatter on Gloo writes its output"; }

rf_call reduce_scatter_on(void* group, rf_op op, const auto& outputs, const void* options,
                          const void* where) {
  rf_call call = call_on(group, op, outputs, where);
  call.reduce_op = reduce_op_of(options);
  call.why_not_skip = why_not_skip;
  return call;
}
WorkHandle reduce_scatter(void* self, Tensors& outputs, TensorLists& inputs, const void* options) {
  rf_call call = reduce_scatter_on(self, RF_OP_REDUCE_SCATTER, outputs, options, HERE);
  return submit(self, call, [&] { return torch_next.reduce_scatter(self, outputs, inputs, options); });
}
WorkHandle reduce_scatter_base(void* self, Tensor& output, Tensor& input, const void* options) {
  rf_call call = reduce_scatter_on(self, RF_OP_REDUCE_SCATTER_BLOCK, output, options, HERE);
  return submit(self, call, [&] { return torch_next.reduce_scatter_base(self, output, input, options); });
}
WorkHandle reduce_scatter_tensor_coalesced(void* self, Tensors& outputs, Tensors& inputs,
                                           const void* options) {
  rf_call call = reduce_scatter_on(self, RF_OP_REDUCE_SCATTER_BLOCK, outputs, options, HERE);
  return submit(self, call,
                [&] { return torch_next.reduce_scatter_tensor_coalesced(self, outputs, inputs, options); });
}
// One op in all its forms: Gloo gives them one slot, and each pair of ranks has its own lengths. A rank with
// even shares may pair with ranks that have uneven shares; only even shares determine what the others must
// have.
void set_share(rf_call& call, bool even, uint64_t share) {
  if (even)
    call.count = share;
  else
    call.flags |= RF_CALL_RANK_LOCAL;
}
bool all_are(const Counts& counts, uint64_t share) {
  return std::all_of(counts.begin(), counts.end(),
                     [=](int64_t n) { return static_cast<uint64_t>(n) == share; });
}
bool all_are(const Tensors& tensors, uint64_t share) {
  return std::all_of(tensors.begin(), tensors.end(), [=](const Tensor& t) { return numel(t) == share; });
}
WorkHandle alltoall(void* self, Tensors& outputs, Tensors& inputs, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_TO_ALL, inputs, HERE);
  const uint64_t share = inputs.empty() ? 0 : numel(inputs[0]);
  set_share(call, all_are(inputs, share) && all_are(outputs, share), share);
  return submit(self, call, [&] { return torch_next.alltoall(self, outputs, inputs, options); });
}
WorkHandle alltoall_base(void* self, Tensor& output, Tensor& input, Counts& output_counts,
                         Counts& input_counts, const void* options) {
  rf_call call = call_on(self, RF_OP_ALL_TO_ALL, input, HERE);
  const rf_comm* comm = core->comm_get(call.comm);
  const uint64_t size = comm ? comm->size : 0, share = size ? call.count / size : 0;
  const bool whole = size && share * size == call.count && numel(output) == call.count;
  set_share(call, whole && all_are(input_counts, share) && all_are(output_counts, share), share);
  return submit(self, call, [&] {
    return torch_next.alltoall_base(self, output, input, output_counts, input_counts, options);
  });
}
WorkHandle barrier(void* self, const void* options) {
  rf_call call = call_on(self, RF_OP_BARRIER, Tensors{}, HERE);
  return submit(self, call, [&] { return torch_next.barrier(self, options); });
}

// It is blocking and consists of sends and receives on two tags of its own.
void monitored_barrier(void* self, const void* options, bool wait_all_ranks) {
  if (state().current()) return torch_next.monitored_barrier(self, options, wait_all_ranks);
  rf_call call = call_on(self, RF_OP_BARRIER, Tensors{}, HERE);
  call.flags = 0;
  RecordedCall recorded(call);
  CurrentCall current{.call = &call, .group = self};
  const Within within(current);
  if (recorded.verdict() == RF_DO_FAIL)
    throw std::runtime_error("[rankfault] monitoredBarrier failed (injected)");
  if (recorded.verdict() == RF_DO_FORWARD) torch_next.monitored_barrier(self, options, wait_all_ranks);
  recorded.returned();
}

// Gloo's send is a rendezvous: its work is complete when the receive has taken the data.
WorkHandle send(void* self, Tensors& tensors, int to, int tag) {
  rf_call call = call_on(self, RF_OP_SEND, tensors, HERE);
  call.flags |= RF_CALL_RENDEZVOUS;
  call.peer = to;
  call.tag = tag;
  return submit(self, call, [&] { return torch_next.send(self, tensors, to, tag); });
}
WorkHandle recv(void* self, Tensors& tensors, int from, int tag) {
  rf_call call = call_on(self, RF_OP_RECV, tensors, HERE);
  call.peer = from;
  call.tag = tag;
  return submit(self, call, [&] { return torch_next.recv(self, tensors, from, tag); });
}
WorkHandle recv_any(void* self, Tensors& tensors, int tag) {
  rf_call call = call_on(self, RF_OP_RECV, tensors, HERE);
  call.flags |= RF_CALL_ANY_SOURCE;
  call.peer = RF_PEER_ANY;
  call.tag = tag;
  return submit(self, call, [&] { return torch_next.recv_any(self, tensors, tag); });
}

}  // namespace

#define GROUP "_ZN4c10d16ProcessGroupGloo"
const rf_wrapper kCallWrappers[] = {
    RF_WRAP(GROUP "9allreduceERSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE", &allreduce,
            allreduce),
    RF_WRAP(GROUP "16allreduce_sparseERSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE",
            &allreduce_sparse, allreduce_sparse),
    RF_WRAP(GROUP "19allreduce_coalescedERSt6vectorIN2at6TensorESaIS3_EERKNS_25AllreduceCoalescedOptionsE",
            &allreduce_coalesced, allreduce_coalesced),
    RF_WRAP(GROUP "9broadcastERSt6vectorIN2at6TensorESaIS3_EERKNS_16BroadcastOptionsE", &broadcast,
            broadcast),
    RF_WRAP(GROUP "6reduceERSt6vectorIN2at6TensorESaIS3_EERKNS_13ReduceOptionsE", &reduce, reduce),
    RF_WRAP(GROUP "9allgatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE",
            &allgather, allgather),
    RF_WRAP(GROUP "15_allgather_baseERN2at6TensorES3_RKNS_16AllgatherOptionsE", &allgather_base,
            allgather_base),
    RF_WRAP(GROUP
            "19allgather_coalescedERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE",
            &allgather_coalesced, allgather_coalesced),
    RF_WRAP(GROUP
            "31allgather_into_tensor_coalescedERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_16AllgatherOptionsE",
            &allgather_into_tensor_coalesced, allgather_into_tensor_coalesced),
    RF_WRAP(GROUP "6gatherERSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_13GatherOptionsE", &gather,
            gather),
    RF_WRAP(GROUP "7scatterERSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_14ScatterOptionsE", &scatter,
            scatter),
    RF_WRAP(GROUP
            "14reduce_scatterERSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_20ReduceScatterOptionsE",
            &reduce_scatter, reduce_scatter),
    RF_WRAP(GROUP "20_reduce_scatter_baseERN2at6TensorES3_RKNS_20ReduceScatterOptionsE", &reduce_scatter_base,
            reduce_scatter_base),
    RF_WRAP(
        GROUP
        "31reduce_scatter_tensor_coalescedERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_20ReduceScatterOptionsE",
        &reduce_scatter_tensor_coalesced, reduce_scatter_tensor_coalesced),
    RF_WRAP(GROUP "8alltoallERSt6vectorIN2at6TensorESaIS3_EES6_RKNS_15AllToAllOptionsE", &alltoall, alltoall),
    RF_WRAP(GROUP "13alltoall_baseERN2at6TensorES3_RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE",
            &alltoall_base, alltoall_base),
    RF_WRAP(GROUP "7barrierERKNS_14BarrierOptionsE", &barrier, barrier),
    RF_WRAP(GROUP "16monitoredBarrierERKNS_14BarrierOptionsEb", &monitored_barrier, monitored_barrier),
    RF_WRAP(GROUP "4sendERSt6vectorIN2at6TensorESaIS3_EEii", &send, send),
    RF_WRAP(GROUP "4recvERSt6vectorIN2at6TensorESaIS3_EEii", &recv, recv),
    RF_WRAP(GROUP "13recvAnysourceERSt6vectorIN2at6TensorESaIS3_EEi", &recv_any, recv_any),
    {nullptr, nullptr, nullptr},
};

}  // namespace rankfault::gloo_decoder
