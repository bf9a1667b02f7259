// torch_execution.cc: how PyTorch runs submitted work: tags, queued work, gloo:: on a worker thread,
// completion and waiting.
//
// A skipped call is submitted with one of our tags, so that the group's counter does not move. Its work
// finishes without running: nothing is sent, no output changes, and threads that wait for it continue.
#include <stdexcept>

#include "harness/backends/gloo/torch_gloo.h"

namespace rankfault::gloo_decoder {
namespace {

uint32_t next_tag(void* self) {
  static std::atomic<uint32_t> skipped{0};
  CurrentCall* current = state().current();
  if (!current || !current->call) return torch_next.next_tag(self);
  if (current->fate == Fate::kSkip) return current->tag = kSkippedTag + (skipped.fetch_add(1) & 0xfffffu);
  current->tag = torch_next.next_tag(self);
  if (!current->has_tag) {  // in a call with several tags, the first one names it
    current->has_tag = true;
    current->call->tag = static_cast<int32_t>(current->tag);
    core->set_seq(current->call, uint64_t{current->tag} + 1);
  }
  return current->tag;
}

std::shared_ptr<void> get_context(void* self, uint32_t tag) {
  std::shared_ptr<void> context = torch_next.get_context(self, tag);
  const uint64_t comm = state().groups.get(self);
  if (comm != PointerMap<1>::kAbsent && state().contexts.get(context.get()) != comm)
    state().contexts.set(context.get(), comm);
  return context;
}

// `work` is an intrusive_ptr by value: a pointer to the temporary that holds it.
void enqueue(void* self, void** work) {
  CurrentCall* current = state().current();
  if (current && current->call && current->call->outermost) state().keep_work(*work, state().open(*current));
  torch_next.enqueue(self, work);
}

void execute(void* const* work) {
  const Pending* piece = state().find_work(*work);
  if (piece && piece->fate == Fate::kSkip) return torch_next.finish(*work);
  if (piece && piece->fate == Fate::kFail) {
    // One for each failure, as 1.13 takes it by value and may move from it. Never freed: the release of an
    // exception_ptr is inline since g++ 11, and calls what older libraries lack.
    auto* error = new std::exception_ptr(
        std::make_exception_ptr(std::runtime_error("[rankfault] Connection closed by peer (injected)")));
    state().close(*state().find(piece->number), true);
    return torch_next.finish_error(*work, *error);
  }
  CurrentCall executing{.executing = piece};
  const Within within(executing);
  torch_next.execute(work);
}

// The completion is recorded before the waiting threads are woken.
void finish(void* work) {
  if (Pending* piece = state().find_work(work)) state().close(*piece, false);
  torch_next.finish(work);
}
void finish_error(void* work, const std::exception_ptr& error) {
  if (Pending* piece = state().find_work(work)) state().close(*piece, true);
  torch_next.finish_error(work, error);
}

// A wait by the program for recorded work. `completes`: the work is complete when its wait returns (sends,
// receives); other work reports its own completion.
bool wait_for(void* work, int64_t timeout_ms, bool (*next)(void*, int64_t), bool completes,
              const void* where) {
  const CurrentCall* current = state().current();
  Pending* piece = state().find_work(work);
  if (current)
    return next(work, timeout_ms);  // inside a call, or in a barrier's worker that waits for earlier work
  // The skip is final, because the worker may reach the work only after this wait began. A send or a receive
  // that was never posted would wait forever.
  if (piece && piece->fate == Fate::kSkip) return completes || next(work, timeout_ms);
  rf_call call = make_call(RF_LIB_C10D, RF_OP_WAIT, where);
  call.timeout_ns = timeout_ms > 0 ? static_cast<uint64_t>(timeout_ms) * 1000000 : 0;
  if (piece) {
    call.comm = piece->comm;
    call.seq = piece->seq;
    call.tag = static_cast<int32_t>(piece->tag);
    call.pending[0] = piece->origin;
    call.pending_count = 1;
  } else {
    call.seq = RF_SEQ_NONE;
    call.flags = RF_CALL_COUNT_UNKNOWN;
  }
  RecordedCall recorded(call);
  const bool done = next(work, timeout_ms);
  if (piece && completes) state().close(*piece, !done);
  if (piece) state().works.erase(work);
  recorded.returned();
  return done;
}

#define HERE __builtin_return_address(0)
bool wait(void* self, int64_t ms) { return wait_for(self, ms, torch_next.wait, false, HERE); }
bool send_wait(void* self, int64_t ms) { return wait_for(self, ms, torch_next.send_wait, true, HERE); }
bool recv_wait(void* self, int64_t ms) { return wait_for(self, ms, torch_next.recv_wait, true, HERE); }

// ---- gloo:: as the execution of a call --------------------------------------------------------

const rf_comm* comm_of_context(const void* context) {
  const uint64_t comm = state().contexts.get(context);
  return comm == PointerMap<1>::kAbsent ? nullptr : core->comm_get(static_cast<uint32_t>(comm));
}

// gloo::Context has virtual functions in older versions. Its group knows rank and size, and so where they
// lie.
const layout::Context* members_of(const void* context) {
  static std::atomic<const uint32_t*> found{nullptr};
  static constexpr uint32_t kOffsets[] = {0, sizeof(void*)};
  const rf_comm* comm = context ? comm_of_context(context) : nullptr;
  for (const uint32_t& offset : kOffsets) {
    const auto& members = layout::at<layout::Context>(context, offset);
    if (!comm || comm->rank != members.rank || comm->size != static_cast<uint32_t>(members.size)) continue;
    found.store(&offset, std::memory_order_relaxed);
    return &members;
  }
  const uint32_t* offset = comm || !context ? nullptr : found.load(std::memory_order_relaxed);
  return offset ? &layout::at<layout::Context>(context, *offset) : nullptr;
}

bool is_plausible(const layout::Context* members, uint64_t element_size, uint32_t tag,
                  const CurrentCall* current) {
  if (!members || members->size < 1 || members->size > 1 << 20) return false;
  if (members->rank < 0 || members->rank >= members->size || element_size > 64) return false;
  return !current || !current->executing || current->executing->tag == tag;
}

void refuse_layout() {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (said.test_and_set()) return;
  core->coverage(RF_LIB_GLOO, "torch_gloo", 0, RF_HOOK_NONE, "unknown layout of options");
}

void set_needs(rf_call& call, const std::vector<uint64_t>& lengths, int self) {
  if (lengths.size() > 64) return;
  call.flags |= RF_CALL_MASK_VALID;
  for (uint64_t r = 0; r < lengths.size(); ++r)
    if (lengths[r] && static_cast<int>(r) != self) call.needs_mask |= 1ull << r;
}

rf_call execution(const layout::GlooOptions& of, const void* options, const layout::Context& members,
                  uint32_t tag, uint64_t element_size, const void* where) {
  const void* context = layout::at<const void*>(options, 0);
  rf_call call = make_call(RF_LIB_GLOO, of.op, where);
  call.flags = RF_CALL_EXECUTION;
  const uint64_t comm = state().contexts.get(context);
  if (comm != PointerMap<1>::kAbsent) call.comm = static_cast<uint32_t>(comm);
  call.seq = uint64_t{tag} + 1;
  call.tag = static_cast<int32_t>(tag);
  call.dtype = dtype_of_size(element_size);
  const auto timeout_ms = layout::at<int64_t>(options, of.timeout_ms);
  if (timeout_ms > 0) call.timeout_ns = static_cast<uint64_t>(timeout_ms) * 1000000;
  if (of.elements) call.count = layout::at<uint64_t>(options, of.elements);
  const auto* buffer = of.buffer ? layout::at<const layout::Buffer*>(options, of.buffer) : nullptr;
  if (buffer && element_size) call.count = buffer->bytes / element_size;
  if (of.per_rank) call.count /= static_cast<uint64_t>(members.size);
  if (of.root) call.peer = layout::at<int32_t>(options, of.root);
  if (of.lengths) {
    call.flags |= RF_CALL_RANK_LOCAL;
    set_needs(call, layout::at<std::vector<uint64_t>>(options, of.lengths), members.rank);
  }
  return call;
}

template <const layout::GlooOptions& kOf, auto kNext>
void run(void* options) {
  const CurrentCall* current = state().current();
  const layout::Context* members = members_of(layout::at<const void*>(options, 0));
  const auto tag = layout::at<uint32_t>(options, kOf.tag);
  if (tag >= kSkippedTag) return;  // of a skipped call, in case its work ever runs
  const uint64_t element_size = kOf.element_size ? layout::at<uint64_t>(options, kOf.element_size) : 0;
  if (!is_plausible(members, element_size, tag, current)) {
    refuse_layout();
    return (torch_next.*kNext)(options);
  }
  rf_call call = execution(kOf, options, *members, tag, element_size, HERE);
  RecordedCall recorded(call);
  (torch_next.*kNext)(options);
  recorded.returned();
}

// Below: the functions that Gloo's own code uses. A skipped send or receive stops here.
bool is_skipped() {
  const CurrentCall* current = state().current();
  return current && current->call && current->fate == Fate::kSkip;
}
void unbound_send(void* self, int to, uint64_t slot, size_t offset, size_t bytes) {
  if (!is_skipped()) torch_next.unbound_send(self, to, slot, offset, bytes);
}
void unbound_recv(void* self, int from, uint64_t slot, size_t offset, size_t bytes) {
  if (!is_skipped()) torch_next.unbound_recv(self, from, slot, offset, bytes);
}
void unbound_recv_any(void* self, std::vector<int>* from, uint64_t slot, size_t offset, size_t bytes) {
  if (!is_skipped()) torch_next.unbound_recv_any(self, from, slot, offset, bytes);
}

}  // namespace

#define GROUP "_ZN4c10d16ProcessGroupGloo"
#define MS "NSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"
#define RUN(symbol, of, slot)                                             \
  {                                                                       \
    symbol, reinterpret_cast<void*>(&run<layout::of, &TorchNexts::slot>), \
        reinterpret_cast<void**>(&torch_next.slot)                        \
  }
const rf_wrapper kExecutionWrappers[] = {
    RF_WRAP(GROUP "7nextTagEv", &next_tag, next_tag),
    RF_WRAP(GROUP "10getContextEj", &get_context, get_context),
    RF_WRAP(GROUP "7enqueueEN3c1013intrusive_ptrINS0_9AsyncWorkENS1_6detail34intrusive_target_default_null_"
                  "typeIS3_EEEE",
            &enqueue, enqueue),
    RF_WRAP(GROUP "9AsyncWork7executeERKN3c1013intrusive_ptrIS1_NS2_6detail34intrusive_target_default_null_"
                  "typeIS1_EEEE",
            &execute, execute),
    RF_WRAP(GROUP "9AsyncWork14finishWorkGlooEv", &finish, finish),
    RF_WRAP(GROUP "9AsyncWork19finishWorkGlooErrorERKNSt15__exception_ptr13exception_ptrE", &finish_error,
            finish_error),
    // by value in PyTorch 1.13: the ABI passes the address of the argument all the same
    RF_WRAP(GROUP "9AsyncWork7executeEN3c1013intrusive_ptrIS1_NS2_6detail34intrusive_target_default_null_"
                  "typeIS1_EEEE",
            &execute, execute),
    RF_WRAP(GROUP "9AsyncWork19finishWorkGlooErrorENSt15__exception_ptr13exception_ptrE", &finish_error,
            finish_error),
    RF_WRAP("_ZN4c10d4Work4waitE" MS, &wait, wait),
    RF_WRAP(GROUP "8SendWork4waitE" MS, &send_wait, send_wait),
    RF_WRAP(GROUP "8RecvWork4waitE" MS, &recv_wait, recv_wait),
    RUN("_ZN4gloo9allreduceERKNS_16AllreduceOptionsE", kAllreduce, gloo_allreduce),
    RUN("_ZN4gloo9allgatherERNS_16AllgatherOptionsE", kAllgather, gloo_allgather),
    RUN("_ZN4gloo10allgathervERNS_17AllgathervOptionsE", kAllgatherv, gloo_allgatherv),
    RUN("_ZN4gloo8alltoallERNS_15AlltoallOptionsE", kAlltoall, gloo_alltoall),
    RUN("_ZN4gloo9alltoallvERNS_16AlltoallvOptionsE", kAlltoallv, gloo_alltoallv),
    RUN("_ZN4gloo7barrierERNS_14BarrierOptionsE", kBarrier, gloo_barrier),
    RUN("_ZN4gloo9broadcastERNS_16BroadcastOptionsE", kBroadcast, gloo_broadcast),
    RUN("_ZN4gloo6gatherERNS_13GatherOptionsE", kGather, gloo_gather),
    RUN("_ZN4gloo6reduceERNS_13ReduceOptionsE", kReduce, gloo_reduce),
    RUN("_ZN4gloo7scatterERNS_14ScatterOptionsE", kScatter, gloo_scatter),
    RF_WRAP("_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm", &unbound_send, unbound_send),
    RF_WRAP("_ZN4gloo9transport3tcp13UnboundBuffer4recvEimmm", &unbound_recv, unbound_recv),
    RF_WRAP("_ZN4gloo9transport3tcp13UnboundBuffer4recvESt6vectorIiSaIiEEmmm", &unbound_recv_any,
            unbound_recv_any),
    {nullptr, nullptr, nullptr},
};

}  // namespace rankfault::gloo_decoder
