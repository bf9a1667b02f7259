// torch_state.h: what joins the layers of PyTorch on Gloo: the call a thread is in, the work it left
// pending, and which group a context belongs to.
#ifndef RANKFAULT_BACKENDS_GLOO_TORCH_STATE_H
#define RANKFAULT_BACKENDS_GLOO_TORCH_STATE_H

#include <pthread.h>

#include "harness/backends/gloo/pointer_map.h"
#include "harness/backends/gloo/recorded_call.h"

namespace rankfault::gloo_decoder {

enum class Fate : uint8_t { kRun, kSkip, kFail };

// One piece of work that a call left pending. A call that is made of several (a coalesced reduce_scatter)
// has one lead piece, whose `open` counts all of them and the call itself while it runs.
struct Pending {
  std::atomic<uint64_t> number{~0ull};  // which piece this is; the place is used again after kPending others
  uint64_t lead = 0;
  uint64_t origin = 0;
  uint64_t seq = 0;
  uint64_t completes = 0;  // the seq its end completes on the communicator; 0: a send or a receive
  uint32_t comm = RF_NO_COMM;
  uint32_t tag = 0;
  Fate fate = Fate::kRun;
  std::atomic<int32_t> open{0};
  std::atomic<bool> failed{false};
};

// A c10d call on its thread, or (call null) the execution of a piece of work on a worker.
struct CurrentCall {
  rf_call* call = nullptr;
  void* group = nullptr;
  Fate fate = Fate::kRun;
  uint64_t lead = PointerMap<1>::kAbsent;
  uint32_t tag = 0;  // the latest taken
  bool has_tag = false;
  const Pending* executing = nullptr;
};

class TorchState {
 public:
  // The call this thread is in; decoders keep no thread-locals, so it is found by the thread's handle.
  CurrentCall* current();
  bool enter(CurrentCall& call);  // false: no room, the call goes unjoined; the record says so
  void leave();

  // A new piece of work of `call`; opens it.
  Pending& open(CurrentCall& call);
  Pending* find(uint64_t number);
  Pending* find_work(const void* work);
  void keep_work(const void* work, const Pending& piece);
  // One of the parts that `open` counts is over; the last one writes the completion.
  void close(Pending& piece, bool failed);

  PointerMap<4096> works;     // c10d::Work -> number of its piece
  PointerMap<256> groups;     // c10d::ProcessGroupGloo -> communicator
  PointerMap<1024> contexts;  // gloo::Context -> communicator

 private:
  static constexpr uint32_t kPending = 8192, kThreads = 512, kWindow = 32;
  struct Thread {
    std::atomic<uintptr_t> owner{0};
    std::atomic<CurrentCall*> call{nullptr};
  };
  Thread* own_place();
  std::array<Pending, kPending> pending_;
  std::atomic<uint64_t> next_pending_{0};
  std::array<Thread, kThreads> threads_;
};

TorchState& state();

// In a scope: this thread is in `call`.
class Within {
 public:
  explicit Within(CurrentCall& call) : entered_(state().enter(call)) {}
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
  ~Within() {
    if (entered_) state().leave();
  }

 private:
  const bool entered_;
};

// Tags answered for skipped calls: far from any that are counted up from 0.
constexpr uint32_t kSkippedTag = 0xfff00000u;

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_TORCH_STATE_H
