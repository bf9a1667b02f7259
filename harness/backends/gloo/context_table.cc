// context_table.cc: the Gloo contexts of this process, and the communicator entry of each of their tags.
#include "harness/backends/gloo/context_table.h"

#include "harness/backends/gloo/identity.h"
#include "harness/backends/gloo/recorded_call.h"

namespace rankfault::gloo_decoder {
namespace {

uint32_t slot_of(const void* context, uint32_t capacity) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(context) >> 4) * 0x9e3779b97f4a7c15ull >> 40) %
         capacity;
}

class Locked {
 public:
  explicit Locked(rf_lock& lock) : lock_(rf_lock_take(&lock) == 0 ? &lock : nullptr) {
    if (!lock_) core->opaque(RF_OPAQUE_COMMUNICATION);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() {
    if (lock_) rf_lock_give(lock_);
  }
  explicit operator bool() const { return lock_ != nullptr; }

 private:
  rf_lock* const lock_;
};

}  // namespace

ContextTable::Entry* ContextTable::find(const void* context) {
  const auto wanted = reinterpret_cast<uintptr_t>(context);
  uint32_t slot = slot_of(context, kContexts);
  for (uint32_t i = 0; i < kContexts; ++i, slot = (slot + 1) % kContexts) {
    const uintptr_t held = entries_[slot].context.load(std::memory_order_acquire);
    if (held == wanted) return &entries_[slot];
    if (held == kFree) return nullptr;
  }
  return nullptr;
}

const ContextTable::Entry* ContextTable::find(const void* context) const {
  return const_cast<ContextTable*>(this)->find(context);
}

uint32_t ContextTable::add(const void* context, const ContextInfo& info) {
  const Locked locked(adding_);
  if (!locked) return RF_NO_COMM;
  if (Entry* old = find(context)) gone_locked(*old);
  Entry* entry = add_locked(context, info);
  return entry ? add_stream_locked(*entry, 0) : RF_NO_COMM;
}

ContextTable::Entry* ContextTable::add_locked(const void* context, const ContextInfo& info) {
  uint32_t slot = slot_of(context, kContexts);
  for (uint32_t i = 0; i < kContexts; ++i, slot = (slot + 1) % kContexts) {
    Entry& entry = entries_[slot];
    if (entry.context.load(std::memory_order_relaxed) > kDeleted) continue;
    entry.info = info;
    for (auto& stream : entry.streams) stream.store(0, std::memory_order_relaxed);
    entry.context.store(reinterpret_cast<uintptr_t>(context), std::memory_order_release);
    return &entry;
  }
  return nullptr;
}

uint32_t ContextTable::add_stream_locked(Entry& entry, uint32_t tag) {
  const ContextInfo& of = entry.info;
  rf_comm_info info{};
  info.id = of.id;
  if (tag != 0) {
    info.parent = of.id;
    info.id = of.id ? rf_hash_bytes(of.id, &tag, sizeof tag) : 0;
  }
  info.handle = entry.context.load(std::memory_order_relaxed);
  info.timeout_ns = of.timeout_ns;
  info.size = static_cast<uint32_t>(of.size);
  info.rank = of.rank;
  info.flags = RF_COMM_POSITIONAL;
  info.tag = tag;
  info.library = RF_LIB_GLOO;
  info.identity = static_cast<uint8_t>(of.identity);
  if (!of.members.empty()) info.world_ranks = of.members.data();
  info.members_hash = hash_of_members(of.members);
  const uint32_t comm = core->comm_add(&info);
  if (comm != RF_NO_COMM) entry.comms.push_back(comm);
  const uint64_t packed = (static_cast<uint64_t>(tag) + 1) << 32 | comm;
  entry.streams[tag % kTags].store(packed, std::memory_order_release);
  return comm;
}

uint32_t ContextTable::stream(const void* context, uint32_t tag, int rank, int size) {
  Entry* entry = find(context);
  if (entry) {
    const uint64_t packed = entry->streams[tag % kTags].load(std::memory_order_acquire);
    if (packed >> 32 == static_cast<uint64_t>(tag) + 1) return static_cast<uint32_t>(packed);
  }
  const Locked locked(adding_);
  if (!locked) return RF_NO_COMM;
  if (!entry) entry = find(context);
  if (!entry) entry = add_locked(context, {.rank = rank, .size = size, .members = {}});
  if (!entry) return RF_NO_COMM;
  const uint32_t known = core->comm_find(RF_LIB_GLOO, reinterpret_cast<uintptr_t>(context), tag);
  if (known == RF_NO_COMM) return add_stream_locked(*entry, tag);
  entry->streams[tag % kTags].store((static_cast<uint64_t>(tag) + 1) << 32 | known,
                                    std::memory_order_release);
  return known;
}

void ContextTable::gone_locked(Entry& entry) {
  for (const uint32_t comm : entry.comms) core->comm_gone(comm);
  entry.comms.clear();
  entry.context.store(kDeleted, std::memory_order_release);
}

void ContextTable::gone(const void* context) {
  if (!find(context)) return;
  const Locked locked(adding_);
  if (!locked) return;
  if (Entry* entry = find(context)) gone_locked(*entry);
}

ContextInfo ContextTable::info_of(const void* context) const {
  const Entry* entry = find(context);
  return entry ? entry->info : ContextInfo{};
}

}  // namespace rankfault::gloo_decoder
