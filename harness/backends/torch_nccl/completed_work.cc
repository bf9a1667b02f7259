// completed_work: a c10d::Work that was complete when it was made: what a skipped call of PyTorch's nccl
// backend returns. Compiled with the headers of the PyTorch that loads it, which need no header of CUDA.
#include "harness/backends/torch_nccl/completed_work.h"

#include <ATen/core/ivalue.h>

#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace rankfault::completed_work {
namespace {

using Future = c10::ivalue::Future;

#define SAME(ours, theirs) \
  static_assert(static_cast<uint8_t>(ours) == static_cast<uint8_t>(c10d::OpType::theirs), "c10d::OpType")
SAME(kBroadcast, BROADCAST);
SAME(kAllreduce, ALLREDUCE);
SAME(kAllreduceCoalesced, ALLREDUCE_COALESCED);
SAME(kReduce, REDUCE);
SAME(kAllgather, ALLGATHER);
SAME(kAllgatherBase, _ALLGATHER_BASE);
SAME(kAllgatherCoalesced, ALLGATHER_COALESCED);
SAME(kGather, GATHER);
SAME(kScatter, SCATTER);
SAME(kReduceScatter, REDUCE_SCATTER);
SAME(kAlltoallBase, ALLTOALL_BASE);
SAME(kAlltoall, ALLTOALL);
SAME(kSend, SEND);
SAME(kRecv, RECV);
SAME(kRecvAnysource, RECVANYSOURCE);
SAME(kBarrier, BARRIER);
SAME(kReduceScatterBase, _REDUCE_SCATTER_BASE);
SAME(kCoalesced, COALESCED);
SAME(kAllreduceSparse, _ALLREDUCE_SPARSE);
#undef SAME

// A future accepts tensors of the devices that it was made for.
std::vector<c10::Device> devices_of(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors)
    if (tensor.defined() && !tensor.device().is_cpu()) return {tensor.device()};
  return {};
}

class CompletedWork final : public c10d::Work {
 public:
  CompletedWork(c10d::OpType op, std::vector<at::Tensor> tensors)
      : Work(-1, op),
        tensors_(std::move(tensors)),
        future_(
            c10::make_intrusive<Future>(c10::ListType::create(c10::TensorType::get()), devices_of(tensors_))),
        outcome_(c10::make_intrusive<Future>(c10::AnyEnumType::get())) {
    future_->markCompleted(c10::IValue(tensors_));
    outcome_->markCompleted(c10::IValue(static_cast<int64_t>(c10d::WorkResult::SUCCESS)));
    finish();
  }

  bool wait(std::chrono::milliseconds /*timeout*/) override { return true; }
  void synchronize() override {}
  void abort() override {}
  std::vector<at::Tensor> result() override { return tensors_; }
  c10::intrusive_ptr<Future> getFuture() override { return future_; }
  c10::intrusive_ptr<Future> getFutureResult() override { return outcome_; }
  float getDuration() const override { return 0; }
  uint64_t getSequencenumber() const override { return 0; }
  void blockCurrentStream() override {}

 private:
  std::vector<at::Tensor> tensors_;
  c10::intrusive_ptr<Future> future_;
  c10::intrusive_ptr<Future> outcome_;  // whether it succeeded
};

void* make(OpType op, Tensors tensors) noexcept {
  try {
    std::vector<at::Tensor> held;
    for (uint64_t i = 0; i < tensors.count; ++i)
      held.push_back(*reinterpret_cast<const at::Tensor*>(tensors.first + i));
    return c10::make_intrusive<CompletedWork>(static_cast<c10d::OpType>(op), std::move(held)).release();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace
}  // namespace rankfault::completed_work

extern "C" __attribute__((visibility("default"))) void* rankfault_completed_work_v1(
    rankfault::completed_work::OpType op, rankfault::completed_work::Tensors tensors) {
  return rankfault::completed_work::make(op, tensors);
}
