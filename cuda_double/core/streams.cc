#include "cuda_double/core/streams.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace cuda_double {

struct Streams::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t changes = 0, ids = 0;
  std::map<const void*, StreamPtr> streams;  // by handle
  std::map<int, StreamPtr> defaults;         // legacy default streams, by device
};

Streams::Streams() : state_(new State) {}

Streams& Streams::all() {
  static Streams* streams = new Streams;
  return *streams;
}

StreamPtr Streams::make(int device, bool blocking) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto stream = std::make_shared<Stream>(device, blocking, ++state_->ids);
  return state_->streams[stream.get()] = stream;
}

StreamPtr Streams::default_stream(int device) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  StreamPtr& stream = state_->defaults[device];
  if (!stream) stream = std::make_shared<Stream>(device, false, ++state_->ids);
  return stream;
}

StreamPtr Streams::of(const void* handle, int device) {
  thread_local std::map<int, StreamPtr> own;
  auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 1) return default_stream(device);
  if (number == 2) {
    StreamPtr& stream = own[device];
    if (!stream) stream = make(device, true);
    return stream;
  }
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto found = state_->streams.find(handle);
  return found == state_->streams.end() ? nullptr : found->second;
}

Error Streams::destroy(const void* handle) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto found = state_->streams.find(handle);
  if (found == state_->streams.end()) return kInvalidHandle;
  found->second->closed_ = true;  // the entries in it still run
  state_->streams.erase(found);
  ++state_->changes;
  state_->changed.notify_all();
  return kSuccess;
}

// The places that a new entry of `stream` waits for by the rule of the legacy default stream: that stream
// waits for all blocking streams of its device, and they wait for it. The caller holds the lock.
std::vector<Place> Streams::legacy_rule(const StreamPtr& stream) {
  std::vector<Place> after;
  auto wait_for = [&](const StreamPtr& other) {
    if (other && other != stream && other->complete_ < other->asked_) after.push_back({other, other->asked_});
  };
  auto own = state_->defaults.find(stream->device_);
  if (own != state_->defaults.end() && own->second == stream) {
    for (auto& [handle, other] : state_->streams) {
      if (other->blocking_ && other->device_ == stream->device_) wait_for(other);
    }
  } else if (stream->blocking_ && own != state_->defaults.end()) {
    wait_for(own->second);
  }
  return after;
}

Place Streams::enqueue(const StreamPtr& stream, Entry entry) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  for (Place& place : legacy_rule(stream)) entry.after.push_back(std::move(place));
  Place end{stream, ++stream->asked_};
  bool first = stream->queue_.empty() && !stream->busy_;
  for (const Place& place : entry.after) first = first && place.stream->complete_ >= place.count;
  if (first && entry.quick) {
    stream->busy_ = true;
    lock.unlock();
    entry.step();
    lock.lock();
    stream->busy_ = false;
    ++stream->complete_;
  } else {
    stream->queue_.push_back(std::move(entry));
    if (!stream->has_worker_) {
      stream->has_worker_ = true;
      std::thread([this, stream] {
        pthread_setname_np(pthread_self(), "cuda double");
        work(stream);
      }).detach();
    }
  }
  ++state_->changes;
  state_->changed.notify_all();
  return end;
}

void Streams::work(const StreamPtr& stream) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  for (;;) {
    std::uint64_t seen = state_->changes;
    bool ready = !stream->busy_ && !stream->queue_.empty();
    if (ready) {
      for (const Place& place : stream->queue_.front().after)
        ready = ready && place.stream->complete_ >= place.count;
    }
    if (ready) {
      Entry& entry = stream->queue_.front();  // stays valid: push_back does not move a deque's elements
      stream->busy_ = true;
      lock.unlock();
      bool done = entry.step();
      lock.lock();
      stream->busy_ = false;
      if (done) {
        stream->queue_.pop_front();
        ++stream->complete_;
        ++state_->changes;
        state_->changed.notify_all();
        continue;
      }
    } else if (stream->closed_ && stream->queue_.empty() && !stream->busy_) {
      return;
    }
    state_->changed.wait(lock, [&] { return state_->changes != seen; });
  }
}

Place Streams::end_of(const StreamPtr& stream) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return {stream, stream->asked_};
}

bool Streams::reached(const Place& place) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return !place.stream || place.stream->complete_ >= place.count;
}

std::vector<Place> Streams::awaited_by(const StreamPtr& stream) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<Place> places;
  for (const Entry& entry : stream->queue_) {
    for (const Place& place : entry.after) {
      if (place.stream != stream && place.stream->complete_ < place.count) places.push_back(place);
    }
  }
  return places;
}

void Streams::wait_for(const Place& place) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !place.stream || place.stream->complete_ >= place.count; });
}

void Streams::wait_for_device(int device) {
  std::vector<Place> ends;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    auto add = [&](const StreamPtr& stream) {
      if (device < 0 || stream->device_ == device) ends.push_back({stream, stream->asked_});
    };
    for (auto& [handle, stream] : state_->streams) add(stream);
    for (auto& [number, stream] : state_->defaults) add(stream);
  }
  for (const Place& end : ends) wait_for(end);
}

void Streams::announce() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  ++state_->changes;
  state_->changed.notify_all();
}

void record(Event* event, const StreamPtr& stream) {
  auto at = std::make_shared<Event::Clock::time_point>();
  event->at = at;
  event->place = Streams::all().enqueue(stream, {[at] {
                                                   *at = Event::Clock::now();
                                                   return true;
                                                 },
                                                 {},
                                                 true});
}

bool reached(const Event& event) { return Streams::all().reached(event.place); }

}  // namespace cuda_double
