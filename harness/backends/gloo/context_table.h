// context_table.h: the Gloo contexts of this process, and the communicator entry of each of their tags.
//
// A lookup takes no lock and allocates nothing. Contexts and streams are added under a lock, once each. If
// the lock is not available, the context stays unknown, and the record notes it.
#ifndef RANKFAULT_BACKENDS_GLOO_CONTEXT_TABLE_H
#define RANKFAULT_BACKENDS_GLOO_CONTEXT_TABLE_H

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "harness/agent/core.h"
#include "harness/agent/lock.h"

namespace rankfault::gloo_decoder {

struct ContextInfo {
  uint64_t id = 0;  // 0: unknown
  uint64_t timeout_ns = 0;
  int rank = 0;
  int size = 0;
  rf_identity identity = RF_ID_NONE;
  std::vector<int32_t> members;  // world ranks; empty: unknown
};

class ContextTable {
 public:
  // The stream of tag 0 is the context's own entry. An earlier entry of the same address is removed.
  uint32_t add(const void* context, const ContextInfo& info);
  // Returns the entry of (context, tag), which is created at the first use of that tag. A context that was
  // never seen gets an entry without identity. `rank` and `size` are the context's own.
  uint32_t stream(const void* context, uint32_t tag, int rank, int size);
  void gone(const void* context);
  // Returns the data of a context that was added; empty if it was not.
  ContextInfo info_of(const void* context) const;

 private:
  static constexpr uint32_t kContexts = 512, kTags = 64;
  static constexpr uintptr_t kFree = 0, kDeleted = 1;
  struct Entry {
    std::atomic<uintptr_t> context{kFree};
    ContextInfo info;
    std::vector<uint32_t> comms;  // every stream created, under the lock
    // a cache of these, by tag modulo its size: tag + 1 in the upper half, communicator in the lower; 0 empty
    std::array<std::atomic<uint64_t>, kTags> streams{};
  };
  Entry* find(const void* context);
  const Entry* find(const void* context) const;
  Entry* add_locked(const void* context, const ContextInfo& info);
  uint32_t add_stream_locked(Entry& entry, uint32_t tag);
  void gone_locked(Entry& entry);

  std::array<Entry, kContexts> entries_;
  rf_lock adding_{};
};

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_CONTEXT_TABLE_H
