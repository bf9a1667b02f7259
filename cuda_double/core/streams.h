// streams.h: streams as real queues. Each has a worker, so that a blocked stream blocks no other.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_double/core/errors.h"

namespace cuda_double {

class Stream;
using StreamPtr = std::shared_ptr<Stream>;

// A place in a stream. The stream has reached it when this number of its entries is complete.
struct Place {
  StreamPtr stream;
  std::uint64_t count = 0;
};

// Work in a stream. The worker calls `step` at the head of the queue, without a lock, until it returns true,
// again after each announce(). `quick`: may run in the calling thread if no entry is before it.
struct Entry {
  std::function<bool()> step;
  std::vector<Place> after;
  bool quick = false;
};

class Stream {
 public:
  Stream(int device, bool blocking, std::uint64_t id) : device_(device), blocking_(blocking), id_(id) {}
  int device() const { return device_; }
  std::uint64_t id() const { return id_; }
  bool is_blocking() const { return blocking_; }

 private:
  friend class Streams;
  const int device_;
  const bool blocking_;  // follows the rules of the legacy default stream
  const std::uint64_t id_;
  std::deque<Entry> queue_;
  std::uint64_t asked_ = 0, complete_ = 0;
  bool busy_ = false, closed_ = false, has_worker_ = false;
};

// All streams of the process.
class Streams {
 public:
  static Streams& all();

  StreamPtr make(int device, bool blocking);
  // The stream of a handle of the public API: null and 1 are the device's legacy default stream, 2 the
  // thread's own. Null: not the handle of a stream.
  StreamPtr of(const void* handle, int device);
  Error destroy(const void* handle);

  Place enqueue(const StreamPtr& stream, Entry entry);
  Place end_of(const StreamPtr& stream);
  bool reached(const Place& place);
  // The places in other streams for which the present entries of this stream wait.
  std::vector<Place> awaited_by(const StreamPtr& stream);
  void wait_for(const Place& place);
  // Waits for all present entries of the device (of every device: -1).
  void wait_for_device(int device);

  // Wakes the workers: the entry at the head of a stream may wait for something that has changed.
  void announce();

 private:
  struct State;
  Streams();
  void work(const StreamPtr& stream);
  StreamPtr default_stream(int device);
  std::vector<Place> legacy_rule(const StreamPtr& stream);
  State* state_;  // never freed: workers outlive main
};

// Events: the place in a stream at which they were last recorded.
struct Event {
  using Clock = std::chrono::steady_clock;
  Place place;
  std::shared_ptr<Clock::time_point> at;  // when that place was reached
};

void record(Event* event, const StreamPtr& stream);
bool reached(const Event& event);

}  // namespace cuda_double
