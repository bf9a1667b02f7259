// torch_state.cc: connects the layers of PyTorch on Gloo: calls, pending work, groups.
#include "harness/backends/gloo/torch_state.h"

namespace rankfault::gloo_decoder {

TorchState& state() {
  static TorchState& instance = *new TorchState;  // outlives every thread that may still call
  return instance;
}

TorchState::Thread* TorchState::own_place() {
  const auto self = static_cast<uintptr_t>(pthread_self());
  const auto start = static_cast<uint32_t>((self >> 8) * 0x9e3779b97f4a7c15ull >> 40);
  for (uint32_t i = 0; i < kWindow; ++i) {
    Thread& place = threads_[(start + i) % kThreads];
    if (place.owner.load(std::memory_order_relaxed) == self) return &place;
  }
  return nullptr;
}

CurrentCall* TorchState::current() {
  const Thread* place = own_place();
  return place ? place->call.load(std::memory_order_relaxed) : nullptr;
}

bool TorchState::enter(CurrentCall& call) {
  const auto self = static_cast<uintptr_t>(pthread_self());
  const auto start = static_cast<uint32_t>((self >> 8) * 0x9e3779b97f4a7c15ull >> 40);
  for (uint32_t i = 0; i < kWindow; ++i) {
    Thread& place = threads_[(start + i) % kThreads];
    uintptr_t nobody = 0;
    if (!place.owner.compare_exchange_strong(nobody, self)) continue;
    place.call.store(&call, std::memory_order_relaxed);
    return true;
  }
  core->opaque(RF_OPAQUE_COMMUNICATION);
  return false;
}

void TorchState::leave() {
  Thread* place = own_place();
  if (!place) return;
  place->call.store(nullptr, std::memory_order_relaxed);
  place->owner.store(0, std::memory_order_release);
}

Pending& TorchState::open(CurrentCall& call) {
  const uint64_t number = next_pending_.fetch_add(1, std::memory_order_relaxed);
  Pending& piece = pending_[number % kPending];
  piece.number.store(~0ull, std::memory_order_relaxed);
  const bool leads = call.lead == PointerMap<1>::kAbsent;
  if (leads) call.lead = number;
  piece.lead = call.lead;
  piece.origin = RF_ORIGIN(call.call->lane, call.call->number);
  piece.seq = call.call->seq;
  piece.completes = call.has_tag ? call.call->seq : 0;
  piece.comm = call.call->comm;
  piece.tag = call.tag;
  piece.fate = call.fate;
  piece.failed.store(false, std::memory_order_relaxed);
  piece.open.store(leads ? 2 : 0, std::memory_order_relaxed);  // itself, and the call that still runs
  piece.number.store(number, std::memory_order_release);
  if (!leads)
    if (Pending* lead = find(call.lead)) lead->open.fetch_add(1, std::memory_order_relaxed);
  return piece;
}

Pending* TorchState::find(uint64_t number) {
  Pending& piece = pending_[number % kPending];
  return piece.number.load(std::memory_order_acquire) == number ? &piece : nullptr;
}

Pending* TorchState::find_work(const void* work) {
  const uint64_t number = works.get(work);
  return number == PointerMap<1>::kAbsent ? nullptr : find(number);
}

// Work that no thread waits for stays known until its entry is needed. Only the loss of open work matters.
void TorchState::keep_work(const void* work, const Pending& piece) {
  const uint64_t forgotten = works.set(work, piece.number.load(std::memory_order_relaxed));
  const Pending* was = forgotten == PointerMap<1>::kAbsent ? nullptr : find(forgotten);
  const Pending* lead = was ? find(was->lead) : nullptr;
  if (lead && lead->open.load(std::memory_order_relaxed) > 0) core->opaque(RF_OPAQUE_COMMUNICATION);
}

void TorchState::close(Pending& piece, bool failed) {
  Pending* lead = find(piece.lead);
  if (!lead || lead->fate == Fate::kSkip) return;
  if (failed) lead->failed.store(true, std::memory_order_relaxed);
  if (lead->open.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const bool any_failed = lead->failed.load(std::memory_order_relaxed);
  core->complete(lead->origin, lead->comm, lead->completes, any_failed ? RF_RESULT_THROWN : 0);
}

}  // namespace rankfault::gloo_decoder
