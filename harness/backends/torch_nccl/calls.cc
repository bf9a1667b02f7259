// calls.cc: the methods of c10d::ProcessGroupNCCL as upper calls: a fault acts here, at the call that the
// program wrote, and the calls of NCCL below are recorded. A skipped call never enters PyTorch's method, so
// neither its sequence number nor its Flight Recorder knows of it.
#include "harness/backends/gloo/torch_gloo.h"
#include "harness/backends/torch_nccl/torch_nccl.h"

namespace rankfault::torch_nccl {
namespace {

using completed_work::OpType;
using gloo_decoder::core;
using gloo_decoder::Counts;
using gloo_decoder::torch_function;
using gloo_decoder::WorkHandle;
using gloo_decoder::layout::Tensor;
using gloo_decoder::layout::TensorLists;
using gloo_decoder::layout::Tensors;

struct Nexts {
  WorkHandle (*allreduce)(void*, Tensors&, const void*);
  WorkHandle (*allreduce_sparse)(void*, Tensors&, const void*);
  WorkHandle (*allreduce_coalesced)(void*, Tensors&, const void*);
  WorkHandle (*broadcast)(void*, Tensors&, const void*);
  WorkHandle (*reduce)(void*, Tensors&, const void*);
  WorkHandle (*allgather)(void*, TensorLists&, Tensors&, const void*);
  WorkHandle (*allgather_base)(void*, Tensor&, Tensor&, const void*);
  WorkHandle (*allgather_coalesced)(void*, TensorLists&, Tensors&, const void*);
  WorkHandle (*allgather_into_tensor_coalesced)(void*, Tensors&, Tensors&, const void*);
  WorkHandle (*gather)(void*, TensorLists&, Tensors&, const void*);
  WorkHandle (*scatter)(void*, Tensors&, TensorLists&, const void*);
  WorkHandle (*reduce_scatter)(void*, Tensors&, TensorLists&, const void*);
  WorkHandle (*reduce_scatter_base)(void*, Tensor&, Tensor&, const void*);
  WorkHandle (*reduce_scatter_tensor_coalesced)(void*, Tensors&, Tensors&, const void*);
  WorkHandle (*alltoall)(void*, Tensors&, Tensors&, const void*);
  WorkHandle (*alltoall_base)(void*, Tensor&, Tensor&, Counts&, Counts&, const void*);
  WorkHandle (*barrier)(void*, const void*);
  WorkHandle (*send)(void*, Tensors&, int, int);
  WorkHandle (*recv)(void*, Tensors&, int, int);
  WorkHandle (*recv_any)(void*, Tensors&, int);
  void (*eager_connect)(void*, uint16_t);
};
Nexts next;

completed_work::Tensors row_of(const Tensors& tensors) { return {tensors.data(), tensors.size()}; }
completed_work::Tensors row_of(const Tensor& tensor) { return {&tensor, 1}; }
completed_work::Tensors row_of(const TensorLists& lists) {  // a rank has one device, so one list
  return lists.empty() ? completed_work::Tensors{} : row_of(lists[0]);
}

uint64_t elements_of(completed_work::Tensors row) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < row.count; ++i) {
    int64_t n = 0;
    if (torch_function.numel(&row.first[i], &n) == 0 && n > 0) sum += static_cast<uint64_t>(n);
  }
  return sum;
}

// One call of the program as a scope. Without an action at its op it costs a few stores.
class UpperCall {
 public:
  UpperCall(const void* process_group, rf_op op, OpType type) : type_(type) {
    upper_.call.op = op;
    upper_.call.library = RF_LIB_C10D;
    upper_.call.peer = upper_.call.recv_peer = RF_PEER_NONE;
    upper_.call.why_not_skip = prepare;
    upper_.call.skip_context = this;
    Group* group = group_of(process_group);
    upper_.group = group ? &group->shown : nullptr;
    if (group && op == RF_OP_ALL_REDUCE && gloo_decoder::begins_a_pass(group->last_pass))
      upper_.call.flags = RF_CALL_NEW_PASS;
  }
  UpperCall(const UpperCall&) = delete;
  UpperCall& operator=(const UpperCall&) = delete;
  ~UpperCall() { core->upper_end(&upper_); }

  void begin() { core->upper_begin(&upper_); }
  // `input` gives the number of elements, `result` what the work holds. `forward` makes the call.
  template <typename Input, typename Result, typename Forward>
  WorkHandle make(const Input& input, const Result& result, Forward forward, int peer = RF_PEER_NONE) {
    if (core->upper_armed(upper_.call.op)) {
      upper_.call.count = elements_of(row_of(input));
      upper_.call.peer = peer;
      result_ = row_of(result);
    }
    if (core->upper_begin(&upper_) == RF_DO_SKIP) return WorkHandle(completed_);
    return forward();
  }

 private:
  // The work is made before the agent reports that it skips: a call without a work would crash the program.
  static const char* prepare(void* context) {
    auto* self = static_cast<UpperCall*>(context);
    const char* reason = nullptr;
    const completed_work::Make make = find_completed_work(&reason);
    if (!make) return reason;
    self->completed_ = make(self->type_, self->result_);
    return self->completed_ ? nullptr : "PyTorch refused a completed work";
  }

  const OpType type_;
  rf_upper_call upper_{};
  completed_work::Tensors result_;
  void* completed_ = nullptr;
};

int root_of(const void* options, uint32_t offset) {
  return static_cast<int>(gloo_decoder::layout::at<int64_t>(options, offset));
}
int root_of(const void* options) { return root_of(options, gloo_decoder::layout::kRootOfOtherOptions); }

WorkHandle allreduce(void* self, Tensors& tensors, const void* options) {
  return UpperCall(self, RF_OP_ALL_REDUCE, OpType::kAllreduce).make(tensors, tensors, [&] {
    return next.allreduce(self, tensors, options);
  });
}
WorkHandle allreduce_sparse(void* self, Tensors& tensors, const void* options) {
  return UpperCall(self, RF_OP_ALL_REDUCE, OpType::kAllreduceSparse).make(Tensors{}, tensors, [&] {
    return next.allreduce_sparse(self, tensors, options);
  });
}
WorkHandle allreduce_coalesced(void* self, Tensors& tensors, const void* options) {
  return UpperCall(self, RF_OP_ALL_REDUCE, OpType::kAllreduceCoalesced).make(tensors, tensors, [&] {
    return next.allreduce_coalesced(self, tensors, options);
  });
}
WorkHandle broadcast(void* self, Tensors& tensors, const void* options) {
  return UpperCall(self, RF_OP_BROADCAST, OpType::kBroadcast)
      .make(
          tensors, tensors, [&] { return next.broadcast(self, tensors, options); }, root_of(options));
}
WorkHandle reduce(void* self, Tensors& tensors, const void* options) {
  return UpperCall(self, RF_OP_REDUCE, OpType::kReduce)
      .make(
          tensors, tensors, [&] { return next.reduce(self, tensors, options); },
          root_of(options, gloo_decoder::torch.offsets->root_of_reduce_options));
}
WorkHandle allgather(void* self, TensorLists& outputs, Tensors& inputs, const void* options) {
  return UpperCall(self, RF_OP_ALL_GATHER, OpType::kAllgather).make(inputs, outputs, [&] {
    return next.allgather(self, outputs, inputs, options);
  });
}
WorkHandle allgather_base(void* self, Tensor& output, Tensor& input, const void* options) {
  return UpperCall(self, RF_OP_ALL_GATHER, OpType::kAllgatherBase).make(input, output, [&] {
    return next.allgather_base(self, output, input, options);
  });
}
WorkHandle allgather_coalesced(void* self, TensorLists& outputs, Tensors& inputs, const void* options) {
  return UpperCall(self, RF_OP_ALL_GATHER, OpType::kAllgatherCoalesced).make(inputs, outputs, [&] {
    return next.allgather_coalesced(self, outputs, inputs, options);
  });
}
WorkHandle allgather_into_tensor_coalesced(void* self, Tensors& outputs, Tensors& inputs,
                                           const void* options) {
  return UpperCall(self, RF_OP_ALL_GATHER, OpType::kCoalesced).make(inputs, outputs, [&] {
    return next.allgather_into_tensor_coalesced(self, outputs, inputs, options);
  });
}
WorkHandle gather(void* self, TensorLists& outputs, Tensors& inputs, const void* options) {
  return UpperCall(self, RF_OP_GATHER, OpType::kGather)
      .make(
          inputs, outputs, [&] { return next.gather(self, outputs, inputs, options); }, root_of(options));
}
WorkHandle scatter(void* self, Tensors& outputs, TensorLists& inputs, const void* options) {
  return UpperCall(self, RF_OP_SCATTER, OpType::kScatter)
      .make(
          outputs, outputs, [&] { return next.scatter(self, outputs, inputs, options); }, root_of(options));
}
WorkHandle reduce_scatter(void* self, Tensors& outputs, TensorLists& inputs, const void* options) {
  return UpperCall(self, RF_OP_REDUCE_SCATTER, OpType::kReduceScatter).make(outputs, outputs, [&] {
    return next.reduce_scatter(self, outputs, inputs, options);
  });
}
WorkHandle reduce_scatter_base(void* self, Tensor& output, Tensor& input, const void* options) {
  return UpperCall(self, RF_OP_REDUCE_SCATTER, OpType::kReduceScatterBase).make(output, output, [&] {
    return next.reduce_scatter_base(self, output, input, options);
  });
}
WorkHandle reduce_scatter_tensor_coalesced(void* self, Tensors& outputs, Tensors& inputs,
                                           const void* options) {
  return UpperCall(self, RF_OP_REDUCE_SCATTER, OpType::kCoalesced).make(outputs, outputs, [&] {
    return next.reduce_scatter_tensor_coalesced(self, outputs, inputs, options);
  });
}
WorkHandle alltoall(void* self, Tensors& outputs, Tensors& inputs, const void* options) {
  return UpperCall(self, RF_OP_ALL_TO_ALL, OpType::kAlltoall).make(inputs, outputs, [&] {
    return next.alltoall(self, outputs, inputs, options);
  });
}
WorkHandle alltoall_base(void* self, Tensor& output, Tensor& input, Counts& output_counts,
                         Counts& input_counts, const void* options) {
  return UpperCall(self, RF_OP_ALL_TO_ALL, OpType::kAlltoallBase).make(input, output, [&] {
    return next.alltoall_base(self, output, input, output_counts, input_counts, options);
  });
}
WorkHandle barrier(void* self, const void* options) {
  return UpperCall(self, RF_OP_BARRIER, OpType::kBarrier).make(Tensors{}, Tensors{}, [&] {
    return next.barrier(self, options);
  });
}
WorkHandle send(void* self, Tensors& tensors, int to, int tag) {
  return UpperCall(self, RF_OP_SEND, OpType::kSend)
      .make(
          tensors, tensors, [&] { return next.send(self, tensors, to, tag); }, to);
}
WorkHandle recv(void* self, Tensors& tensors, int from, int tag) {
  return UpperCall(self, RF_OP_RECV, OpType::kRecv)
      .make(
          tensors, tensors, [&] { return next.recv(self, tensors, from, tag); }, from);
}
WorkHandle recv_any(void* self, Tensors& tensors, int tag) {
  return UpperCall(self, RF_OP_RECV, OpType::kRecvAnysource)
      .make(
          tensors, tensors, [&] { return next.recv_any(self, tensors, tag); }, RF_PEER_ANY);
}

// No action acts at it: NCCL's own call that makes the communicator has a record. The scope says whose it is.
// A c10::Device is two bytes.
void eager_connect(void* self, uint16_t device) {
  UpperCall scope(self, RF_OP_NONE, OpType::kBarrier);
  scope.begin();
  next.eager_connect(self, device);
}

}  // namespace

#define GROUP "_ZN4c10d16ProcessGroupNCCL"
#define TENSORS "RSt6vectorIN2at6TensorESaIS3_EE"
#define LISTS "RSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_"
#define TO_LISTS "RSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EE"
#define ONE_TO_ONE "RN2at6TensorES3_"
#define WRAP(method, slot) \
  { GROUP method, reinterpret_cast<void*>(&(slot)), reinterpret_cast<void**>(&next.slot) }
const rf_wrapper kCallWrappers[] = {
    WRAP("9allreduceE" TENSORS "RKNS_16AllreduceOptionsE", allreduce),
    WRAP("16allreduce_sparseE" TENSORS "RKNS_16AllreduceOptionsE", allreduce_sparse),
    WRAP("19allreduce_coalescedE" TENSORS "RKNS_25AllreduceCoalescedOptionsE", allreduce_coalesced),
    WRAP("9broadcastE" TENSORS "RKNS_16BroadcastOptionsE", broadcast),
    WRAP("6reduceE" TENSORS "RKNS_13ReduceOptionsE", reduce),
    WRAP("9allgatherE" LISTS "RKNS_16AllgatherOptionsE", allgather),
    WRAP("15_allgather_baseE" ONE_TO_ONE "RKNS_16AllgatherOptionsE", allgather_base),
    WRAP("19allgather_coalescedE" LISTS "RKNS_16AllgatherOptionsE", allgather_coalesced),
    WRAP("31allgather_into_tensor_coalescedE" TENSORS "S6_RKNS_16AllgatherOptionsE",
         allgather_into_tensor_coalesced),
    WRAP("6gatherE" LISTS "RKNS_13GatherOptionsE", gather),
    WRAP("7scatterE" TO_LISTS "RKNS_14ScatterOptionsE", scatter),
    WRAP("14reduce_scatterE" TO_LISTS "RKNS_20ReduceScatterOptionsE", reduce_scatter),
    WRAP("20_reduce_scatter_baseE" ONE_TO_ONE "RKNS_20ReduceScatterOptionsE", reduce_scatter_base),
    WRAP("31reduce_scatter_tensor_coalescedE" TENSORS "S6_RKNS_20ReduceScatterOptionsE",
         reduce_scatter_tensor_coalesced),
    WRAP("8alltoallE" TENSORS "S6_RKNS_15AllToAllOptionsE", alltoall),
    WRAP("13alltoall_baseE" ONE_TO_ONE "RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE", alltoall_base),
    WRAP("7barrierERKNS_14BarrierOptionsE", barrier),
    WRAP("4sendE" TENSORS "ii", send),
    WRAP("4recvE" TENSORS "ii", recv),
    WRAP("13recvAnysourceE" TENSORS "i", recv_any),
    WRAP("24eagerConnectSingleDeviceEN3c106DeviceE", eager_connect),
    {nullptr, nullptr, nullptr},
};

}  // namespace rankfault::torch_nccl
