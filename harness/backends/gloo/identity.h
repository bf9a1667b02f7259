// identity.h: what names a communicator on all of its members: eight random bytes, and who this process
// says it is.
#ifndef RANKFAULT_BACKENDS_GLOO_IDENTITY_H
#define RANKFAULT_BACKENDS_GLOO_IDENTITY_H

#include <sys/random.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace rankfault::gloo_decoder {

constexpr const char* kIdentityKey = "rankfault/id";

struct Claim {
  int rank = -1;
  int world_size = -1;
};

// Rank and world size as the launcher told them; -1 when it did not.
inline Claim claim_of_environment() {
  constexpr const char* kNames[][2] = {{"RANK", "WORLD_SIZE"},
                                       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& names : kNames) {
    const char* rank = getenv(names[0]);
    const char* size = getenv(names[1]);
    if (rank && *rank && size && *size) return {atoi(rank), atoi(size)};
  }
  return {};
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

inline uint64_t identity_from_text(const std::string& text) {
  return text.size() == 16 ? strtoull(text.c_str(), nullptr, 16) : 0;
}

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_IDENTITY_H
