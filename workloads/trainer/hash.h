// Hash: FNV-1a over bytes, for checksums and for the sequence check.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainer {

inline constexpr uint64_t kHashStart = 0xcbf29ce484222325u;

inline uint64_t hash_bytes(const void* bytes, size_t size, uint64_t hash = kHashStart) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace trainer
