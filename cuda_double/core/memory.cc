#include "cuda_double/core/memory.h"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <string>

#include "cuda_double/core/settings.h"

namespace cuda_double {
namespace {

struct Memory {
  std::mutex mutex;
  std::map<std::uintptr_t, Allocation> allocations;
  std::map<int, std::size_t> used;
};
Memory& memory() {
  static Memory* m = new Memory;
  return *m;
}

constexpr std::size_t kPage = 4096;
thread_local int this_device = 0;

}  // namespace

Error allocate(std::size_t bytes, MemoryKind kind, int device, void** out) {
  if (!out) return kInvalidValue;
  *out = nullptr;
  if (bytes == 0) return kSuccess;
  std::size_t length = (bytes + kPage - 1) / kPage * kPage;
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  bool counts = kind == MemoryKind::device;
  if (length < bytes || (counts && length > settings().memory - m.used[device])) return kOutOfMemory;
  void* at =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return kOutOfMemory;
  if (counts) m.used[device] += length;
  auto base = reinterpret_cast<std::uintptr_t>(at);
  m.allocations[base] = {base, length, kind, device, true};
  *out = at;
  return kSuccess;
}

Error register_range(void* at, std::size_t bytes, MemoryKind kind, int device) {
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto base = reinterpret_cast<std::uintptr_t>(at);
  m.allocations[base] = {base, bytes, kind, device, false};
  return kSuccess;
}

Error take(std::size_t bytes, int device) {
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  if (bytes > settings().memory - m.used[device]) return kOutOfMemory;
  m.used[device] += bytes;
  return kSuccess;
}

void give_back(std::size_t bytes, int device) {
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  m.used[device] -= bytes;
}

Error release(void* at, bool ours) {
  if (!at) return kSuccess;
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto found = m.allocations.find(reinterpret_cast<std::uintptr_t>(at));
  if (found == m.allocations.end() || found->second.ours != ours)
    return ours ? kInvalidValue : kHostMemoryNotRegistered;
  const Allocation& gone = found->second;
  if (gone.ours) munmap(at, gone.bytes);
  if (gone.ours && gone.kind == MemoryKind::device) m.used[gone.device] -= gone.bytes;
  m.allocations.erase(found);
  return kSuccess;
}

std::optional<Allocation> allocation_of(const void* at) {
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  auto place = reinterpret_cast<std::uintptr_t>(at);
  auto found = m.allocations.upper_bound(place);
  if (found == m.allocations.begin()) return std::nullopt;
  --found;
  if (place >= found->first + found->second.bytes) return std::nullopt;
  return found->second;
}

std::size_t free_bytes(int device) {
  Memory& m = memory();
  std::lock_guard<std::mutex> lock(m.mutex);
  return settings().memory - m.used[device];
}

int current_device() { return this_device; }

Error set_current_device(int device) {
  const int count = static_cast<int>(settings().devices.size());
  if (device >= count)
    say_once("a rank asks for device " + std::to_string(device) + ", and devices 0 to " +
             std::to_string(count - 1) + " are visible (RANKFAULT_CUDA_DEVICES: how many there are)");
  if (device < 0 || device >= count) return kInvalidDevice;
  this_device = device;
  return kSuccess;
}

}  // namespace cuda_double
