// identity.h: the identity of a communicator, equal on all its members (eight random bytes), and the rank
// that this process claims.
#ifndef RANKFAULT_BACKENDS_GLOO_IDENTITY_H
#define RANKFAULT_BACKENDS_GLOO_IDENTITY_H

#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/backends/gloo/recorded_call.h"

namespace rankfault::gloo_decoder {

constexpr const char* kIdentityKey = "rankfault/id";

struct Claim {
  int32_t rank = -1;
  int32_t world_size = -1;
};

// Rank and world size from the launcher; -1 if it gave none.
inline Claim claim_of_environment() {
  Claim claim;
  core->told_by_launcher(&claim.rank, &claim.world_size);
  return claim;
}

// The rank of this process. It comes from the environment until a communicator disproves that: the
// communicator is larger than the environment's world, or its members inherited one rank. Then it comes from
// the largest such communicator.
class OwnClaim {
 public:
  Claim get() const {
    const uint64_t joined = joined_.load();
    if (!joined) return claim_of_environment();
    return {static_cast<int>(joined & 0xffffffffu), static_cast<int>(joined >> 32)};
  }
  // Takes a communicator that connected. One of the same size as the last replaces it if the core took its
  // rank as the process's own: these are the ranks of a restarted job, not of a group with another order.
  void connected(int rank, int size) {
    const Claim before = get();
    if (size > before.world_size || (size == before.world_size && joined_.load() && core->rank() == rank))
      join(rank, size);
  }
  void join(int rank, int size) {
    const uint64_t now = static_cast<uint64_t>(size) << 32 | static_cast<uint32_t>(rank);
    uint64_t before = joined_.load();
    while (before >> 32 <= now >> 32 && before != now && !joined_.compare_exchange_weak(before, now)) {
    }
  }

 private:
  std::atomic<uint64_t> joined_{0};  // size and rank; 0 none
};
inline OwnClaim& own_claim() {
  static OwnClaim claim;
  return claim;
}

// Whether two members of one communicator have the same rank: they inherited it, and no launcher gave it to
// them.
inline bool refute_environment(std::vector<int32_t> world_ranks) {
  std::sort(world_ranks.begin(), world_ranks.end());
  return std::adjacent_find(world_ranks.begin(), world_ranks.end()) != world_ranks.end();
}

// Never 0 if it succeeds. getrandom may fail only early at boot; 0 then means "unknown".
inline uint64_t random_identity() {
  uint64_t id = 0;
  if (getrandom(&id, sizeof id, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof id)) return 0;
  return id ? id : 1;
}

inline std::string identity_text(uint64_t id) {
  char text[17];
  snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

// Each member of a communicator that does not have all ranks publishes its world rank.
inline std::string member_key(int32_t rank) { return "rankfault/rank/" + std::to_string(rank); }

// The hash does not depend on the order of ranks inside the communicator.
inline uint64_t hash_of_members(std::vector<int32_t> world_ranks) {
  if (world_ranks.empty()) return 0;
  std::sort(world_ranks.begin(), world_ranks.end());
  return rf_hash_bytes(0, world_ranks.data(), world_ranks.size() * sizeof(int32_t));
}

inline uint64_t identity_from_text(const std::string& text) {
  return text.size() == 16 ? strtoull(text.c_str(), nullptr, 16) : 0;
}

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_IDENTITY_H
