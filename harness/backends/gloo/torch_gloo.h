// torch_gloo.h: the next definitions, shared by the wrappers of both layers of PyTorch on Gloo.
#ifndef RANKFAULT_BACKENDS_GLOO_TORCH_GLOO_H
#define RANKFAULT_BACKENDS_GLOO_TORCH_GLOO_H

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "harness/backends/gloo/torch_layout.h"
#include "harness/backends/gloo/torch_state.h"
#include "harness/backends/gloo/torch_version.h"

namespace rankfault::gloo_decoder {

// c10::intrusive_ptr<c10d::Work> as a return value: it is not trivial, so every ABI returns it through a
// hidden pointer. It owns nothing here; the caller of the wrapper does.
struct WorkHandle {
  void* work;
  explicit WorkHandle(void* held) : work(held) {}
  WorkHandle(WorkHandle&& other) noexcept : work(other.work) { other.work = nullptr; }
  ~WorkHandle() {}  // NOLINT: user-provided, or the ABI would return it in a register
};

using layout::Tensor;
using layout::TensorLists;
using layout::Tensors;
using Counts = std::vector<int64_t>;

struct TorchNexts {
  void (*construct)(void*, void* const*, int, int, void**);
  void (*destroy_d1)(void*);
  void (*destroy_d2)(void*);
  void (*destroy_d0)(void*);
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
  void (*monitored_barrier)(void*, const void*, bool);
  WorkHandle (*send)(void*, Tensors&, int, int);
  WorkHandle (*recv)(void*, Tensors&, int, int);
  WorkHandle (*recv_any)(void*, Tensors&, int);

  uint32_t (*next_tag)(void*);
  std::shared_ptr<void> (*get_context)(void*, uint32_t);
  void (*enqueue)(void*, void**);
  void (*execute)(void* const*);
  void (*finish)(void*);
  void (*finish_error)(void*, const std::exception_ptr&);
  bool (*wait)(void*, int64_t);
  bool (*send_wait)(void*, int64_t);
  bool (*recv_wait)(void*, int64_t);

  void (*gloo_allreduce)(const void*);
  void (*gloo_allgather)(void*);
  void (*gloo_allgatherv)(void*);
  void (*gloo_alltoall)(void*);
  void (*gloo_alltoallv)(void*);
  void (*gloo_barrier)(void*);
  void (*gloo_broadcast)(void*);
  void (*gloo_gather)(void*);
  void (*gloo_reduce)(void*);
  void (*gloo_scatter)(void*);
  void (*connect_full_mesh)(void*, void*, void*);
  void (*connect_full_mesh_2022)(void*, void*, void*);  // another form; Debian's libgloo may be there, too
  void (*unbound_send)(void*, int, uint64_t, size_t, size_t);
  void (*unbound_recv)(void*, int, uint64_t, size_t, size_t);
  void (*unbound_recv_any)(void*, std::vector<int>*, uint64_t, size_t, size_t);
  void* (*get_pair)(void*, int);
  std::shared_ptr<void> (*make_context)(void*, void*);
  void (*context_dtor[4])(void*);

  void (*store_wait[4])(void*, const std::vector<std::string>&);
  void (*store_wait_for[4])(void*, const std::vector<std::string>&, const std::chrono::milliseconds&);
  std::vector<uint8_t> (*store_get[4])(void*, const std::string&);
};
extern TorchNexts torch_next;

// Exported by libtorch, found by name, not wrapped.
struct TorchFunctions {
  int32_t (*numel)(const void* tensor, int64_t*);
  int32_t (*dtype)(const void* tensor, int32_t*);
  void (*store_set)(void* store, const std::string& key, const std::string& value);
  std::string (*store_get)(void* store, const std::string& key);
  uint64_t (*sequence)(void* group);  // null in 1.13, whose Gloo counts no calls
  int (*autograd_pass)();             // torch::autograd::get_current_graph_task_id(); null in 1.13
  // An address inside the GraphTask that the thread works for: get_current_graph_task_exec_info(). May be
  // null.
  const void* (*task_of_thread)();
  void* prefix_store_table;  // may be null, like the next one
  void (*prefix_store_wait)(void* store, const std::vector<std::string>& keys,
                            const std::chrono::milliseconds&);
};
extern TorchFunctions torch_function;

// Whether autograd makes the call, as the first one of its pass since `last` was noted. A pass is one
// execution of the graph: most often one backward() of the program.
bool begins_a_pass(std::atomic<int>& last);

// The tables of each file, which attach() joins; each ends with an empty entry.
extern const rf_wrapper kGroupWrappers[], kCallWrappers[], kExecutionWrappers[], kStoreWrappers[],
    kAutogradWrappers[];

#define RF_WRAP(symbol, wrapper, slot) \
  { symbol, reinterpret_cast<void*>(wrapper), reinterpret_cast<void**>(&torch_next.slot) }

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_TORCH_GLOO_H
