// ThreadWorld: collectives between the threads of one test, so that tests of the trainer's parts need no job.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "workloads/trainer/collectives.h"

namespace trainer {

class ThreadWorld {
 public:
  explicit ThreadWorld(int size) : size_(size) {}

  // Runs `rank` on one thread for each rank, and waits for all.
  void run(const std::function<void(Collectives&)>& rank);

 private:
  friend class ThreadCollectives;
  // Each rank passes numbers, and gets the sum (or the largest) at each place.
  std::vector<int64_t> exchange(const std::vector<int64_t>& mine, bool largest);

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> total_, result_;
  int came_ = 0;
  uint64_t round_ = 0;
};

class ThreadCollectives : public Collectives {
 public:
  ThreadCollectives(ThreadWorld& world, int rank) : world_(world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.size_; }
  void sum(int64_t* numbers, size_t count) override {
    const auto sums = world_.exchange({numbers, numbers + count}, false);
    std::copy(sums.begin(), sums.end(), numbers);
  }
  void sum(float*, size_t) override { throw CollectiveError("other", "no floats here"); }
  int64_t max(int64_t number) override { return world_.exchange({number}, true)[0]; }
  std::vector<uint64_t> all_gather(uint64_t) override { throw CollectiveError("other", "not needed"); }
  void broadcast(void*, size_t, int) override { throw CollectiveError("other", "not needed"); }
  void barrier() override { world_.exchange({}, false); }
  std::unique_ptr<Collectives> group(const std::string&, const std::vector<int>&) override { return nullptr; }
  void set_limit(Limit) override {}
  void leave(int) override {}

 private:
  ThreadWorld& world_;
  int rank_;
};

inline void ThreadWorld::run(const std::function<void(Collectives&)>& rank) {
  std::vector<std::thread> threads;
  for (int r = 0; r < size_; ++r)
    threads.emplace_back([&, r] {
      ThreadCollectives collectives(*this, r);
      rank(collectives);
    });
  for (auto& thread : threads) thread.join();
}

inline std::vector<int64_t> ThreadWorld::exchange(const std::vector<int64_t>& mine, bool largest) {
  std::unique_lock lock(mutex_);
  const uint64_t round = round_;
  if (came_++ == 0) {
    total_ = mine;
  } else {
    for (size_t i = 0; i < mine.size(); ++i)
      total_[i] = largest ? std::max(total_[i], mine[i]) : total_[i] + mine[i];
  }
  if (came_ == size_) {
    came_ = 0;
    ++round_;
    result_ = total_;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return round_ != round; });
  }
  return result_;
}

}  // namespace trainer
