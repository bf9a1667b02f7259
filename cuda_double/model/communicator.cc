#include "cuda_double/model/communicator.h"

#include "cuda_double/core/streams.h"

namespace cuda_double {
namespace {

struct Known {
  std::mutex mutex;
  std::map<const void*, CommunicatorPtr> all;
};
Known& known() {
  static Known* k = new Known;
  return *k;
}

}  // namespace

void Communicator::abort() {
  aborted = true;
  Streams::all().announce();
}

std::uint64_t key_of(const void* bytes, std::size_t size) {  // FNV-1a
  std::uint64_t hash = 14695981039346656037ull;
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211ull;
  return hash;
}

std::uint64_t child_key(Communicator& parent, std::uint64_t what, std::uint64_t which) {
  std::lock_guard<std::mutex> lock(parent.mutex);
  std::uint64_t words[] = {parent.key, parent.children++, what, which};
  return key_of(words, sizeof words);
}

void add_communicator(const void* handle, std::uint64_t key) {
  auto communicator = std::make_shared<Communicator>();
  communicator->key = key;
  std::lock_guard<std::mutex> lock(known().mutex);
  known().all[handle] = communicator;
}

CommunicatorPtr communicator_of(const void* handle) {
  std::lock_guard<std::mutex> lock(known().mutex);
  auto found = known().all.find(handle);
  return found == known().all.end() ? nullptr : found->second;
}

void forget_communicator(const void* handle) {
  std::lock_guard<std::mutex> lock(known().mutex);
  known().all.erase(handle);
}

}  // namespace cuda_double
