#include "harness/gpuless/model/batch.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "harness/gpuless/core/settings.h"

namespace gpuless {
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

// No kernel of these parts of a batch can come any more. Caller has the lock of open().
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

// NCCL takes a communicator's next call only when its last is through: nothing comes for the older batches.
void close_older(Batch& batch) {
  auto& all = open().batches;
  for (auto& part : batch.parts()) {
    for (const BatchPtr& older : all) close_parts(*older, part->communicator.get(), true);
  }
  all.erase(std::remove_if(all.begin(), all.end(), [](const BatchPtr& b) { return all_closed(*b); }),
            all.end());
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

// The part that a kernel on `stream` is for: one without a kernel yet before one that has some.
Part* part_for(const BatchPtr& batch, Stream* stream, bool first) {
  std::lock_guard<std::mutex> lock(batch->mutex);
  for (auto& part : batch->parts()) {
    bool fits = part->closed ? false
                : first      ? part->launches == 0 && part->streams.count(stream)
                             : part->launched_on == stream;
    if (fits) return part.get();
  }
  return nullptr;
}

std::pair<BatchPtr, Part*> find_part(Stream* stream) {
  std::lock_guard<std::mutex> lock(open().mutex);
  std::deque<BatchPtr> candidates = open().batches;
  if (thread.launching) candidates = {thread.launching};
  for (bool first : {true, false}) {
    for (const BatchPtr& batch : candidates) {
      if (Part* part = part_for(batch, stream, first)) return {batch, part};
    }
  }
  return {nullptr, nullptr};
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
    bool blocked = false;  // collectives of a communicator go in their order; messages wait for none of them
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

bool launch_collective(const StreamPtr& stream) {
  auto [batch, part] = find_part(stream.get());
  if (!part) return false;
  ++launches;
  {
    std::lock_guard<std::mutex> lock(batch->mutex);
    if (part->launches++ == 0) {
      part->after = Streams::all().awaited_by(stream);
      part->launched_on = stream.get();
      for (Operation& operation : part->operations) operation.number();
    }
  }
  Streams::all().enqueue(
      stream,
      {[batch = batch, part = part, raw = stream.get()] { return batch->step(*part, raw); }, {}, false});
  return true;
}

Counts counts() { return {calls, launches, without_launch}; }

}  // namespace gpuless
