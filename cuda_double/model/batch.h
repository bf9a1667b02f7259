// batch.h: the calls of one group, or one call alone, from the call to the kernels that NCCL launches for
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda_double/core/streams.h"
#include "cuda_double/model/operation.h"

namespace cuda_double {

// The calls of a batch on one communicator. NCCL launches one kernel for them, or several.
struct Part {
  CommunicatorPtr communicator;
  std::vector<Operation> operations;
  std::set<Stream*> streams;  // the streams that the calls named; the launch is on one of them
  Stream* launched_on = nullptr;
  const void* owner = nullptr;  // the owner word of its first kernel
  std::vector<Place> after;     // the places in other streams that its first kernel waits for
  int launches = 0;
  bool closed = false;  // NCCL launches nothing more for it
  bool complete() const;
};

class Batch {
 public:
  void add(Operation operation, const StreamPtr& stream);
  void remove_last(const CommunicatorPtr& communicator);
  bool empty() const { return parts_.empty(); }
  std::vector<std::unique_ptr<Part>>& parts() { return parts_; }
  // Called at the head of `stream`: advances everything that was launched there. True: all of `part` is
  // complete.
  bool step(Part& part, Stream* stream);

  std::mutex mutex;

 private:
  std::vector<std::unique_ptr<Part>> parts_;
};
using BatchPtr = std::shared_ptr<Batch>;

// The calls that a thread makes to NCCL, in order. note() records every call before NCCL gets it, and
// settle_call() then passes NCCL's result.
void begin_group();
void note(Operation operation, const StreamPtr& stream);
// `accepted`: NCCL took the call (success, or in progress). `later`: a kernel may come after the call has
// returned.
void settle_call(const CommunicatorPtr& communicator, bool accepted, bool later);
// The end of the outermost group: close_group() before NCCL gets the call, settle_group() after.
void close_group();
void settle_group(bool accepted, bool later);
// A simulated group puts nothing on streams.
void drop_group();
// The communicator has ended: NCCL launches nothing more for it. The next communicator may get its memory and
// the memory of its streams, and so have the same words in its kernels.
void end_launches_of(const CommunicatorPtr& communicator);

// A kernel of NCCL was launched on `stream`: puts the operations of that kernel into the stream. False: the
// model knows no call for it. `owner`: the first word of the kernel's parameters, in which NCCL passes the
// communicator's object on the device. The model only compares it: kernels of one communicator have the same
// word. Null: not known.
bool launch_collective(const StreamPtr& stream, const void* owner);

struct Counts {
  std::uint64_t calls = 0, launches = 0, without_launch = 0;
};
Counts counts();

}  // namespace cuda_double
