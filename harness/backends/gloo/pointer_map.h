// pointer_map.h: data about an object of the library, by its address. It is a fixed table without allocation
// or lock, so that a child forked in the middle of a change can still use it.
//
// A key is in one of kWindow places after its hash. If all are taken, the map forgets the first of them, so a
// caller must accept "unknown".
#ifndef RANKFAULT_BACKENDS_GLOO_POINTER_MAP_H
#define RANKFAULT_BACKENDS_GLOO_POINTER_MAP_H

#include <array>
#include <atomic>
#include <cstdint>

namespace rankfault::gloo_decoder {

template <uint32_t kPlaces>
class PointerMap {
 public:
  static constexpr uint64_t kAbsent = ~0ull;

  // Returns the value that the map forgot to make room (the new value itself if there was no place); kAbsent:
  // none.
  uint64_t set(const void* object, uint64_t value) {
    const auto key = reinterpret_cast<uintptr_t>(object);
    uint64_t forgotten = kAbsent;
    Place* into = find(key, key);
    if (!into || !take(*into, key)) into = claim(key, forgotten);
    if (!into) return value;
    into->value.store(value, std::memory_order_release);
    into->key.store(key, std::memory_order_release);
    return forgotten;
  }
  uint64_t get(const void* object) {
    const auto key = reinterpret_cast<uintptr_t>(object);
    const Place* place = find(key, key);
    if (!place) return kAbsent;
    const uint64_t value = place->value.load(std::memory_order_acquire);
    return place->key.load(std::memory_order_acquire) == key ? value : kAbsent;  // else it was just forgotten
  }
  void erase(const void* object) {
    auto key = reinterpret_cast<uintptr_t>(object);
    if (Place* place = find(key, key)) place->key.compare_exchange_strong(key, kFree);
  }

 private:
  static constexpr uint32_t kWindow = 16;
  static constexpr uintptr_t kFree = 0, kBusy = 1;  // being filled; forever if a fork came in between
  struct Place {
    std::atomic<uintptr_t> key{kFree};
    std::atomic<uint64_t> value{0};
  };
  static uint32_t first(uintptr_t key) {
    return static_cast<uint32_t>((key >> 4) * 0x9e3779b97f4a7c15ull >> 40) % kPlaces;
  }
  // Finds `wanted` in the window of `key`.
  Place* find(uintptr_t key, uintptr_t wanted) {
    const uint32_t start = first(key);
    for (uint32_t i = 0; i < kWindow; ++i) {
      Place& place = places_[(start + i) % kPlaces];
      if (place.key.load(std::memory_order_acquire) == wanted) return &place;
    }
    return nullptr;
  }
  static bool take(Place& place, uintptr_t held) { return place.key.compare_exchange_strong(held, kBusy); }
  // Returns a free place in the window of `key`, or the first one that is not being filled; the value there
  // is forgotten.
  Place* claim(uintptr_t key, uint64_t& forgotten) {
    while (Place* place = find(key, kFree))
      if (take(*place, kFree)) return place;
    const uint32_t start = first(key);
    for (uint32_t i = 0; i < kWindow; ++i) {
      Place& place = places_[(start + i) % kPlaces];
      const uintptr_t held = place.key.load(std::memory_order_acquire);
      const uint64_t value = place.value.load(std::memory_order_acquire);
      if (held == kBusy || !take(place, held)) continue;
      if (held != kFree) forgotten = value;
      return &place;
    }
    return nullptr;
  }
  std::array<Place, kPlaces> places_;
};

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_POINTER_MAP_H
