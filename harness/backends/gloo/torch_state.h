// torch_state.h: connects the layers of PyTorch on Gloo: the call that a thread is in, its pending work, and
// the group that a context belongs to.
#ifndef RANKFAULT_BACKENDS_GLOO_TORCH_STATE_H
#define RANKFAULT_BACKENDS_GLOO_TORCH_STATE_H

#include <pthread.h>

#include "harness/backends/gloo/pointer_map.h"
#include "harness/backends/gloo/recorded_call.h"

namespace rankfault::gloo_decoder {

enum class Fate : uint8_t { kRun, kSkip, kFail };

// One piece of work that a call left pending. A call with several pieces (a coalesced reduce_scatter) has one
// lead piece. Its `open` counts all pieces, and the call itself while it runs.
struct Pending {
  std::atomic<uint64_t> number{~0ull};  // the number of the piece; after kPending others the entry is reused
  uint64_t lead = 0;
  uint64_t origin = 0;
  uint64_t seq = 0;
  uint64_t completes = 0;  // the seq on the communicator that its end completes; 0: a send or a receive
  uint32_t comm = RF_NO_COMM;
  uint32_t tag = 0;
  Fate fate = Fate::kRun;
  std::atomic<int32_t> open{0};
  std::atomic<bool> failed{false};
};

// A c10d call on its thread, or (if call is null) the execution of a piece of work on a worker.
struct CurrentCall {
  rf_call* call = nullptr;
  void* group = nullptr;
  Fate fate = Fate::kRun;
  uint64_t lead = PointerMap<1>::kAbsent;
  uint32_t tag = 0;  // the latest tag taken
  bool has_tag = false;
  const Pending* executing = nullptr;
};

class TorchState {
 public:
  // Returns the call of this thread. Decoders keep no thread-locals, so it is found by the thread's handle.
  CurrentCall* current();
  bool enter(CurrentCall& call);  // false: no room; the call stays unconnected, and the record notes it
  void leave();

  // Opens a new piece of work of `call`.
  Pending& open(CurrentCall& call);
  Pending* find(uint64_t number);
  Pending* find_work(const void* work);
  void keep_work(const void* work, const Pending& piece);
  // Ends one of the parts that `open` counts; the last one writes the completion.
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

// Marks, for its scope, that this thread is in `call`.
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

// Tags for skipped calls: far from any tags that count up from 0.
constexpr uint32_t kSkippedTag = 0xfff00000u;

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_TORCH_STATE_H
