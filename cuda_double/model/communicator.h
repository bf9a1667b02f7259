// communicator.h: what the model knows about each communicator: its page, and its key, which is the same on
// all its ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_double/model/page.h"
#include "cuda_double/model/reduce.h"

namespace cuda_double {

struct CustomReduction {
  Type type = Type::float32;
  std::vector<char> factor;            // read when the reduction was made
  const void* at_execution = nullptr;  // or read when the operation runs: device memory
};

struct Communicator {
  std::uint64_t key = 0;
  int rank = -1, ranks = 0, device = 0;
  std::atomic<bool> aborted{false};
  std::atomic<int> behind{0};          // operations whose kernel was launched and does not run yet
  const void* kernel_owner = nullptr;  // batch.cc: the owner word of its kernels; null until it is known
  std::unique_ptr<Page> page;          // null for one rank alone, and until the first operation

  // Under `mutex`: numbers given to operations at their launch, and how many are complete.
  std::mutex mutex;
  std::uint64_t next = 0, complete = 0, children = 0;
  std::map<int, std::uint64_t> next_send, next_receive;
  std::map<int, CustomReduction> reductions;

  void abort();
};
using CommunicatorPtr = std::shared_ptr<Communicator>;

std::uint64_t key_of(const void* bytes, std::size_t size);
std::uint64_t child_key(Communicator& parent, std::uint64_t what, std::uint64_t which);

// By the program's handle. A non-blocking init stores the handle before it returns.
void add_communicator(const void* handle, std::uint64_t key);
CommunicatorPtr communicator_of(const void* handle);
void forget_communicator(const void* handle);

}  // namespace cuda_double
