#include "cuda_double/model/batch.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "cuda_double/core/settings.h"

namespace cuda_double {
namespace {

struct Thread {
  int depth = 0;
  BatchPtr batch;      // of the open group, or of the call that runs
  BatchPtr launching;  // whose kernels NCCL may launch in this thread now
};
thread_local Thread thread;

// Batches for which NCCL may still launch kernels, the oldest first.
struct Open {
  std::mutex mutex;
  std::deque<BatchPtr> batches;
};
Open& open() {
  static Open* o = new Open;
  return *o;
}

std::atomic<std::uint64_t> calls{0}, launches{0}, without_launch{0};

// Closes the parts of a batch, or only those of one communicator: NCCL launches no more kernels for them. The
// caller holds the lock of open().
void close_parts(Batch& batch, const Communicator* only, bool accepted) {
  std::lock_guard<std::mutex> lock(batch.mutex);
  for (auto& part : batch.parts()) {
    if (part->closed || (only && part->communicator.get() != only)) continue;
    part->closed = true;
    if (accepted && part->launches == 0) without_launch += part->operations.size();
  }
}

bool all_closed(Batch& batch) {
  std::lock_guard<std::mutex> lock(batch.mutex);
  auto& parts = batch.parts();
  return std::all_of(parts.begin(), parts.end(), [](auto& p) { return p->closed; });
}

// The caller holds the lock of open().
void close_all_of(const Communicator* communicator) {
  for (const BatchPtr& batch : open().batches) close_parts(*batch, communicator, true);
}

void forget_closed() {
  auto& all = open().batches;
  all.erase(std::remove_if(all.begin(), all.end(), [](const BatchPtr& b) { return all_closed(*b); }),
            all.end());
}

// Closes the older parts of this batch's communicators. NCCL takes a communicator's next call only when it is
// done with the previous one, so it launches no more kernels for older parts.
void close_older(Batch& batch) {
  for (auto& part : batch.parts()) close_all_of(part->communicator.get());
  forget_closed();
}

void start_launching() {
  std::lock_guard<std::mutex> lock(open().mutex);
  thread.launching = thread.batch;
  close_older(*thread.batch);
  open().batches.push_back(thread.batch);
}

void end_launching(bool accepted, bool later) {
  BatchPtr batch = std::move(thread.launching);
  thread.launching = nullptr;
  thread.batch = nullptr;
  if (!batch || (accepted && later)) return;
  std::lock_guard<std::mutex> lock(open().mutex);
  close_parts(*batch, nullptr, accepted);
  auto& all = open().batches;
  all.erase(std::remove(all.begin(), all.end(), batch), all.end());
}

// Finds the part, still without a kernel, to which a kernel of `owner` on `stream` belongs. Of several it
// takes the part with the fewest streams, because the others can launch elsewhere. `only`: no other part of
// the batch could have launched there.
Part* first_launch_of(Batch& batch, Stream* stream, const void* owner, bool& only) {
  std::lock_guard<std::mutex> lock(batch.mutex);
  Part* found = nullptr;
  int possible = 0;
  for (auto& part : batch.parts()) {
    const void* known = part->communicator->kernel_owner;
    if (part->closed || !part->streams.count(stream) || (owner && known && known != owner)) continue;
    ++possible;
    if (part->launches > 0) continue;
    if (owner && known) return part.get();
    if (!found || part->streams.size() < found->streams.size()) found = part.get();
  }
  only = possible == 1;
  return found;
}

// Finds the part that launched on `stream` before and has this owner. A null owner matches any.
Part* later_launch_of(Batch& batch, Stream* stream, const void* owner) {
  std::lock_guard<std::mutex> lock(batch.mutex);
  for (auto& part : batch.parts())
    if (!part->closed && part->launched_on == stream && (!owner || part->owner == owner)) return part.get();
  return nullptr;
}

using Found = std::pair<BatchPtr, Part*>;

Found find_first(const std::deque<BatchPtr>& batches, Stream* stream, const void* owner) {
  for (const BatchPtr& batch : batches) {
    bool only = false;
    Part* part = first_launch_of(*batch, stream, owner, only);
    if (part && owner && only && batches.size() == 1) part->communicator->kernel_owner = owner;
    if (part) return {batch, part};
  }
  return {};
}

Found find_later(const std::deque<BatchPtr>& batches, Stream* stream, const void* owner) {
  for (const BatchPtr& batch : batches)
    if (Part* part = later_launch_of(*batch, stream, owner)) return {batch, part};
  return {};
}

// Finds the batch and the part to which a kernel on `stream` belongs. If no part fits the owner, it ignores
// the owner.
Found find_part(Stream* stream, const void* owner) {
  std::lock_guard<std::mutex> lock(open().mutex);
  std::deque<BatchPtr> batches = open().batches;
  if (thread.launching) batches = {thread.launching};
  Found found;
  if (owner) found = find_later(batches, stream, owner);
  if (!found.second) found = find_first(batches, stream, owner);
  if (!found.second) found = find_first(batches, stream, nullptr);
  return found.second ? found : find_later(batches, stream, nullptr);
}

}  // namespace

bool Part::complete() const {
  return std::all_of(operations.begin(), operations.end(), [](auto& o) { return o.complete(); });
}

void Batch::add(Operation operation, const StreamPtr& stream) {
  auto found = std::find_if(parts_.begin(), parts_.end(),
                            [&](auto& p) { return p->communicator == operation.communicator; });
  if (found == parts_.end()) {
    parts_.push_back(std::make_unique<Part>());
    found = parts_.end() - 1;
    (*found)->communicator = operation.communicator;
  }
  (*found)->streams.insert(stream.get());
  (*found)->operations.push_back(std::move(operation));
}

void Batch::remove_last(const CommunicatorPtr& communicator) {
  auto found =
      std::find_if(parts_.begin(), parts_.end(), [&](auto& p) { return p->communicator == communicator; });
  if (found == parts_.end()) return;
  (*found)->operations.pop_back();
  if ((*found)->operations.empty()) parts_.erase(found);
}

namespace {
bool all_reached(const std::vector<Place>& places) {
  return std::all_of(places.begin(), places.end(), [](auto& p) { return Streams::all().reached(p); });
}
}  // namespace

bool Batch::step(Part& part, Stream* stream) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto& other : parts_) {
    if (other->launched_on != stream || !all_reached(other->after)) continue;
    bool blocked = false;  // collectives of a communicator run in order; messages do not wait for them
    for (Operation& operation : other->operations) {
      if (operation.is_collective() && blocked) continue;
      bool done = operation.step();
      blocked = blocked || (operation.is_collective() && !done);
    }
  }
  return part.complete();
}

void begin_group() {
  if (thread.depth++ == 0) thread.batch = std::make_shared<Batch>();
}

void note(Operation operation, const StreamPtr& stream) {
  if (thread.depth == 0) thread.batch = std::make_shared<Batch>();
  thread.batch->add(std::move(operation), stream);
  if (thread.depth == 0) start_launching();
}

void settle_call(const CommunicatorPtr& communicator, bool accepted, bool later) {
  if (accepted) ++calls;
  if (thread.depth == 0) return end_launching(accepted, later);
  if (!accepted) thread.batch->remove_last(communicator);
}

void close_group() {
  if (thread.depth == 0 || --thread.depth > 0 || !thread.batch) return;
  if (!thread.batch->empty()) start_launching();
}

void settle_group(bool accepted, bool later) {
  if (thread.depth == 0) end_launching(accepted, later);
}

void drop_group() {
  if (thread.depth > 0 && --thread.depth == 0) thread.batch = nullptr;
}

void end_launches_of(const CommunicatorPtr& communicator) {
  std::lock_guard<std::mutex> lock(open().mutex);
  close_all_of(communicator.get());
  forget_closed();
}

bool launch_collective(const StreamPtr& stream, const void* owner) {
  auto [batch, part] = find_part(stream.get(), owner);
  if (!part) return false;
  ++launches;
  {
    std::lock_guard<std::mutex> lock(batch->mutex);
    if (part->launches++ == 0) {
      part->after = Streams::all().awaited_by(stream);
      part->launched_on = stream.get();
      part->owner = owner;
      for (Operation& operation : part->operations) operation.number();
    }
  }
  Streams::all().enqueue(
      stream,
      {[batch = batch, part = part, raw = stream.get()] { return batch->step(*part, raw); }, {}, false});
  return true;
}

Counts counts() { return {calls, launches, without_launch}; }

}  // namespace cuda_double
