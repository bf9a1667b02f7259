#include "cuda_double/core/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "cuda_double/core/memory.h"

namespace cuda_double {
namespace {

struct Piece {
  int fd = -1;  // a file in memory, so that two mappings of a handle have one content
  int device = 0, mappings = 0;
  std::size_t bytes = 0;
  bool released = false;
};
struct Mapping {
  std::size_t bytes = 0;
  std::uint64_t handle = 0;
};
struct Mapped {
  std::mutex mutex;
  std::uint64_t last = 0;
  std::map<std::uint64_t, Piece> pieces;
  std::map<char*, Mapping> mappings;
};
Mapped& mapped() {
  static Mapped* m = new Mapped;
  return *m;
}

bool is_multiple(std::size_t number) { return number % kMappedGranularity == 0; }

constexpr int kNoMemory = PROT_NONE, kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// The caller holds the lock.
void free_if_unused(std::uint64_t handle) {
  const auto found = mapped().pieces.find(handle);
  if (found == mapped().pieces.end() || !found->second.released || found->second.mappings > 0) return;
  close(found->second.fd);
  give_back(found->second.bytes, found->second.device);
  mapped().pieces.erase(found);
}

}  // namespace

Error reserve_range(std::size_t bytes, void** out) {
  if (!out || bytes == 0 || !is_multiple(bytes)) return kInvalidValue;
  // one granule more, of which the ends are cut off: the range must begin at a multiple
  char* at = static_cast<char*>(mmap(nullptr, bytes + kMappedGranularity, kNoMemory, kReserved, -1, 0));
  if (at == MAP_FAILED) return kOutOfMemory;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(at) % kMappedGranularity;
  if (before > 0) munmap(at, before);
  munmap(at + before + bytes, kMappedGranularity - before);
  *out = at + before;
  return kSuccess;
}

Error free_range(void* at, std::size_t bytes) { return munmap(at, bytes) == 0 ? kSuccess : kInvalidValue; }

Error create_memory(std::size_t bytes, int device, std::uint64_t* handle) {
  if (!handle || bytes == 0 || !is_multiple(bytes)) return kInvalidValue;
  if (const Error full = take(bytes, device); full != kSuccess) return full;
  const int fd = memfd_create("cuda double", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    if (fd >= 0) close(fd);
    give_back(bytes, device);
    return kOutOfMemory;
  }
  std::lock_guard<std::mutex> lock(mapped().mutex);
  *handle = ++mapped().last;
  mapped().pieces[*handle] = {fd, device, 0, bytes, false};
  return kSuccess;
}

Error release_memory(std::uint64_t handle) {
  std::lock_guard<std::mutex> lock(mapped().mutex);
  const auto found = mapped().pieces.find(handle);
  if (found == mapped().pieces.end() || found->second.released) return kInvalidValue;
  found->second.released = true;
  free_if_unused(handle);
  return kSuccess;
}

Error map_memory(void* at, std::size_t bytes, std::size_t offset, std::uint64_t handle) {
  std::lock_guard<std::mutex> lock(mapped().mutex);
  const auto found = mapped().pieces.find(handle);
  if (found == mapped().pieces.end() || offset + bytes > found->second.bytes) return kInvalidValue;
  Piece& piece = found->second;
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, piece.fd, static_cast<off_t>(offset)) ==
      MAP_FAILED)
    return kInvalidValue;
  ++piece.mappings;
  mapped().mappings[static_cast<char*>(at)] = {bytes, handle};
  return register_range(at, bytes, MemoryKind::device, piece.device);
}

Error unmap_memory(void* from, std::size_t bytes) {
  std::lock_guard<std::mutex> lock(mapped().mutex);
  auto& all = mapped().mappings;
  char* const begin = static_cast<char*>(from);
  for (char* at = begin; at < begin + bytes;) {
    const auto found = all.find(at);
    if (found == all.end()) return kInvalidValue;
    const Mapping gone = found->second;
    all.erase(found);
    mmap(at, gone.bytes, kNoMemory, kReserved | MAP_FIXED, -1, 0);
    release(at, false);
    --mapped().pieces[gone.handle].mappings;
    free_if_unused(gone.handle);
    at += gone.bytes;
  }
  return kSuccess;
}

}  // namespace cuda_double
