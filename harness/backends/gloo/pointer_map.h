// pointer_map.h: what is known of an object of the library, by its address: a fixed table without
// allocation, read without a lock.
//
// A key lives in one of kWindow places after its hash; when all are taken the first of them is
// forgotten, so a caller must be able to live with "not known".
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

  void set(const void* object, uint64_t value) {
    const auto key = reinterpret_cast<uintptr_t>(object);
    while (writing_.test_and_set(std::memory_order_acquire)) {
    }
    Place* into = find(key, key);
    if (!into) into = find(key, 0);
    if (!into) into = &places_[first(key)];
    into->key.store(0, std::memory_order_release);
    into->value.store(value, std::memory_order_release);
    into->key.store(key, std::memory_order_release);
    writing_.clear(std::memory_order_release);
  }
  uint64_t get(const void* object) {
    const auto key = reinterpret_cast<uintptr_t>(object);
    const Place* place = find(key, key);
    return place ? place->value.load(std::memory_order_acquire) : kAbsent;
  }
  void erase(const void* object) {
    while (writing_.test_and_set(std::memory_order_acquire)) {
    }
    const auto key = reinterpret_cast<uintptr_t>(object);
    if (Place* place = find(key, key)) place->key.store(0, std::memory_order_release);
    writing_.clear(std::memory_order_release);
  }

 private:
  static constexpr uint32_t kWindow = 16;
  struct Place {
    std::atomic<uintptr_t> key{0};
    std::atomic<uint64_t> value{0};
  };
  static uint32_t first(uintptr_t key) {
    return static_cast<uint32_t>((key >> 4) * 0x9e3779b97f4a7c15ull >> 40) % kPlaces;
  }
  // `wanted` in the window of `key`.
  Place* find(uintptr_t key, uintptr_t wanted) {
    const uint32_t start = first(key);
    for (uint32_t i = 0; i < kWindow; ++i) {
      Place& place = places_[(start + i) % kPlaces];
      if (place.key.load(std::memory_order_acquire) == wanted) return &place;
    }
    return nullptr;
  }
  std::array<Place, kPlaces> places_;
  std::atomic_flag writing_ = ATOMIC_FLAG_INIT;
};

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_POINTER_MAP_H
