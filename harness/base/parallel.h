// parallel: processes many items with a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace rankfault {

constexpr size_t kManyItems = 256;  // with fewer items, a second thread gains nothing

// Calls for_one(i) for each i below `count`, in any order, from this thread and up to three more. Returns
// when all calls are done. Calls of for_one must not change common data.
template <typename F>
void in_parallel(size_t count, const F& for_one) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) for_one(i);
  };
  std::vector<std::thread> others;
  if (count >= kManyItems)
    for (unsigned i = 1; i < std::min(4u, std::thread::hardware_concurrency()); ++i)
      others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
}

}  // namespace rankfault
