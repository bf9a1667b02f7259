// groups.cc: keeps name, size and order of each process group of PyTorch over NCCL. A trigger that names a
// communicator names such a group: NCCL's own communicator may be made only in the group's first call.
#include <array>

#include "harness/backends/gloo/identity.h"
#include "harness/backends/gloo/pointer_map.h"
#include "harness/backends/gloo/torch_names.h"
#include "harness/backends/torch_nccl/torch_nccl.h"

namespace rankfault::torch_nccl {
namespace {

using gloo_decoder::core;
using gloo_decoder::own_claim;
using gloo_decoder::PointerMap;

constexpr uint32_t kGroups = 256;

struct Nexts {
  void (*construct)(void*, void* const*, int, int, void* const*);
  void (*destroy_d0)(void*);
  void (*destroy_d1)(void*);
  void (*destroy_d2)(void*);
};
Nexts next;

std::array<Group, kGroups> kept;
PointerMap<kGroups> places;  // process group -> its index in `kept`
std::atomic<const void*> world{nullptr};
std::atomic<uint32_t> made{0};

void forget(const void* process_group) {
  const void* held = process_group;
  world.compare_exchange_strong(held, nullptr);
  Group* gone = group_of(process_group);
  places.erase(process_group);
  if (gone) gone->process_group.store(nullptr, std::memory_order_release);
}

void keep(const void* process_group, const std::string& name, int size) {
  for (uint32_t i = 0; i < kGroups; ++i) {
    const void* nobody = nullptr;
    if (!kept[i].process_group.compare_exchange_strong(nobody, process_group)) continue;
    snprintf(kept[i].name, sizeof kept[i].name, "%s", name.c_str());
    kept[i].last_pass = 0;
    kept[i].shown = {.name = name.empty() ? nullptr : kept[i].name,
                     .size = static_cast<uint32_t>(size),
                     .ordinal = made.fetch_add(1),
                     .is_world = world.load() == process_group,
                     .comm = RF_NO_COMM};
    places.set(process_group, i);
    return;
  }
}

// The first group over all ranks is the world, until it ends: in-place recovery makes the next one.
bool begins_world(const void* process_group, int size) {
  const int32_t told = own_claim().get().world_size;
  const void* none = nullptr;
  return (told < 0 || size >= told) && world.compare_exchange_strong(none, process_group);
}

// PyTorch names the groups of a device mesh by a hash. Such a group gets no name, so that findings name its
// ranks.
std::string shown_name(const std::string& prefix, bool is_world) {
  const std::string name = gloo_decoder::name_of(prefix, is_world);
  const bool is_hash = name.size() == 40 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? "" : name;
}

// Store and options come by value: the ABI passes the addresses of their handles. The group takes the store.
void construct(void* self, void* const* store, int rank, int size, void* const* options) {
  const std::string prefix = gloo_decoder::prefix_of(*store);
  const bool is_world = begins_world(self, size);
  if (is_world) core->become_member(RF_LIB_C10D, rank, size);
  try {
    next.construct(self, store, rank, size, options);
  } catch (...) {
    forget(self);
    throw;
  }
  if (is_world) own_claim().connected(rank, size);
  keep(self, shown_name(prefix, is_world), size);
}

template <auto kNext>
void destroy(void* self) {
  forget(self);
  (next.*kNext)(self);
}

}  // namespace

Group* group_of(const void* process_group) {
  const uint64_t place = places.get(process_group);
  return place < kGroups ? &kept[place] : nullptr;
}

#define GROUP "_ZN4c10d16ProcessGroupNCCL"
#define STORE_AND_OPTIONS                                                                          \
  "EN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEiiNS2_I" \
  "NS0_7OptionsENS5_IS8_EEEE"
#define WRAP(symbol, wrapper, slot) \
  { symbol, reinterpret_cast<void*>(wrapper), reinterpret_cast<void**>(&next.slot) }
const rf_wrapper kGroupWrappers[] = {
    WRAP(GROUP "C1" STORE_AND_OPTIONS, &construct, construct),
    WRAP(GROUP "C2" STORE_AND_OPTIONS, &construct, construct),
    WRAP(GROUP "D0Ev", &destroy<&Nexts::destroy_d0>, destroy_d0),
    WRAP(GROUP "D1Ev", &destroy<&Nexts::destroy_d1>, destroy_d1),
    WRAP(GROUP "D2Ev", &destroy<&Nexts::destroy_d2>, destroy_d2),
    {nullptr, nullptr, nullptr},
};

}  // namespace rankfault::torch_nccl
