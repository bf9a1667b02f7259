// identity.h: what names a communicator on all of its members: eight random bytes, and who this process
// says it is.
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

// Rank and world size as the launcher told them; -1 when it did not.
inline Claim claim_of_environment() {
  Claim claim;
  core->told_by_launcher(&claim.rank, &claim.world_size);
  return claim;
}

// Who this process is: what the environment says, until a communicator refutes it by being larger than the
// world it tells, or because its members inherited one rank; then what the largest such communicator says.
class OwnClaim {
 public:
  Claim get() const {
    const uint64_t joined = joined_.load();
    if (!joined) return claim_of_environment();
    return {static_cast<int>(joined & 0xffffffffu), static_cast<int>(joined >> 32)};
  }
  // A communicator that connected. One as large as the last replaces it where the core took its rank for the
  // process's own: the ranks of a job that starts anew, not those of a group that orders them otherwise.
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

// Two members of one communicator inherited the same rank: none of them got it from a launcher.
inline bool refute_environment(std::vector<int32_t> world_ranks) {
  std::sort(world_ranks.begin(), world_ranks.end());
  return std::adjacent_find(world_ranks.begin(), world_ranks.end()) != world_ranks.end();
}

// Never 0. getrandom may fail early at boot only; then pid and time would do, but 0 says "not known".
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

// Each member of a communicator that is not over all ranks tells the others which world rank it is.
inline std::string member_key(int32_t rank) { return "rankfault/rank/" + std::to_string(rank); }

// The order of ranks inside the communicator does not matter to the hash.
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
