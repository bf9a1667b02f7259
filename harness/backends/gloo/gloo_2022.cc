// gloo_2022.cc: the decoder of plain Gloo as packaged by Debian and Ubuntu (2022-05, libgloo.so.0).
//
// The wrappers have the names of Gloo's own functions, hidden. Those are friends of the options classes, so
// the wrappers may read private members. Nothing here links to libgloo.
#include "harness/backends/gloo/gloo_2022.h"

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <cstring>

namespace rankfault::gloo_decoder {

Nexts2022 next;

namespace {

rf_call collective(rf_op op, const ::gloo::Context& context, uint32_t tag, uint64_t element_size,
                   std::chrono::milliseconds timeout, const void* where) {
  rf_call call = make_call(RF_LIB_GLOO, op, where);
  call.comm = contexts().stream(&context, tag, context.rank, context.size);
  call.tag = static_cast<int32_t>(tag);
  call.dtype = dtype_of_size(element_size);
  call.reduce_op = RF_REDUCE_OTHER;  // Gloo has a function, not an operation
  if (timeout.count() > 0) call.timeout_ns = static_cast<uint64_t>(timeout.count()) * 1000000;
  return call;
}

uint64_t elements_of(const std::unique_ptr<::gloo::transport::UnboundBuffer>& buffer, uint64_t element_size) {
  return buffer && element_size ? buffer->size / element_size : 0;
}

// Sets the members that owe this rank bytes, except itself.
void set_needs(rf_call& call, const std::vector<size_t>& lengths, int self) {
  if (lengths.size() > 64) return;
  call.flags |= RF_CALL_MASK_VALID;
  for (size_t r = 0; r < lengths.size(); ++r)
    if (lengths[r] && static_cast<int>(r) != self) call.needs_mask |= 1ull << r;
}

[[noreturn]] void throw_injected() {
  throw ::gloo::IoException("[rankfault] Connection closed by peer (injected)");
}

template <typename Options>
void forward(const RecordedCall& recorded, void (*to)(Options&), Options& options) {
  switch (recorded.verdict()) {
    case RF_DO_SKIP:
      return;
    case RF_DO_FAIL:
      throw_injected();
    case RF_DO_FORWARD:
      to(options);
  }
}

// A smaller count is what a program with that mistake would pass; a larger one would read beyond the buffer.
void change_count(ChangedArgument<size_t>& changed, const rf_call& call, size_t& elements) {
  if (call.changed == RF_ARG_COUNT && call.changed_to <= elements) changed.change(elements, call.changed_to);
}

}  // namespace
}  // namespace rankfault::gloo_decoder

using namespace rankfault::gloo_decoder;  // NOLINT: the functions below must be Gloo's own

namespace gloo {

void allreduce(const AllreduceOptions& options) {
  auto& o = const_cast<AllreduceOptions&>(options).impl_;
  rf_call call =
      collective(RF_OP_ALL_REDUCE, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.count = o.elements;
  if (o.in.empty()) call.flags |= RF_CALL_IN_PLACE;
  ChangedArgument<size_t> changed;
  RecordedCall recorded(call);
  change_count(changed, call, o.elements);
  forward<const AllreduceOptions>(recorded, next.allreduce, options);
  recorded.returned();
}

void broadcast(BroadcastOptions& o) {
  rf_call call =
      collective(RF_OP_BROADCAST, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.count = o.elements;
  call.peer = o.root;
  ChangedArgument<size_t> changed;
  ChangedArgument<int> changed_root;
  RecordedCall recorded(call);
  change_count(changed, call, o.elements);
  if (call.changed == RF_ARG_ROOT) changed_root.change(o.root, static_cast<int>(call.changed_to));
  forward(recorded, next.broadcast, o);
  recorded.returned();
}

void reduce(ReduceOptions& o) {
  rf_call call =
      collective(RF_OP_REDUCE, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.count = o.elements;
  call.peer = o.root;
  ChangedArgument<size_t> changed;
  RecordedCall recorded(call);
  change_count(changed, call, o.elements);
  forward(recorded, next.reduce, o);
  recorded.returned();
}

void barrier(BarrierOptions& o) {
  rf_call call = collective(RF_OP_BARRIER, *o.context, o.tag, 0, o.timeout, __builtin_return_address(0));
  RecordedCall recorded(call);
  forward(recorded, next.barrier, o);
  recorded.returned();
}

void allgather(AllgatherOptions& o) {
  rf_call call =
      collective(RF_OP_ALL_GATHER, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.count = elements_of(o.out, o.elementSize) / static_cast<uint64_t>(o.context->size);
  if (!o.in) call.flags |= RF_CALL_IN_PLACE;
  RecordedCall recorded(call);
  forward(recorded, next.allgather, o);
  recorded.returned();
}

void allgatherv(AllgathervOptions& o) {
  rf_call call =
      collective(RF_OP_ALL_GATHERV, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  const auto self = static_cast<size_t>(o.context->rank);
  call.flags |= RF_CALL_RANK_LOCAL;
  call.count = self < o.elements.size() ? o.elements[self] : 0;
  set_needs(call, o.elements, o.context->rank);
  RecordedCall recorded(call);
  forward(recorded, next.allgatherv, o);
  recorded.returned();
}

void gather(GatherOptions& o) {
  rf_call call =
      collective(RF_OP_GATHER, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.count = elements_of(o.in, o.elementSize);
  call.peer = o.root;
  RecordedCall recorded(call);
  forward(recorded, next.gather, o);
  recorded.returned();
}

void scatter(ScatterOptions& o) {
  rf_call call =
      collective(RF_OP_SCATTER, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.count = elements_of(o.out, o.elementSize);
  call.peer = o.root;
  if (call.count == 0) call.flags |= RF_CALL_OWN_SHARE_0;
  RecordedCall recorded(call);
  forward(recorded, next.scatter, o);
  recorded.returned();
}

void alltoall(AlltoallOptions& o) {
  rf_call call =
      collective(RF_OP_ALL_TO_ALL, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.count = elements_of(o.in, o.elementSize) / static_cast<uint64_t>(o.context->size);
  RecordedCall recorded(call);
  forward(recorded, next.alltoall, o);
  recorded.returned();
}

void alltoallv(AlltoallvOptions& o) {
  rf_call call =
      collective(RF_OP_ALL_TO_ALLV, *o.context, o.tag, o.elementSize, o.timeout, __builtin_return_address(0));
  call.flags |= RF_CALL_RANK_LOCAL;
  call.count = elements_of(o.in, o.elementSize);
  set_needs(call, o.outLengthPerRank, o.context->rank);
  RecordedCall recorded(call);
  forward(recorded, next.alltoallv, o);
  recorded.returned();
}

}  // namespace gloo
