// memory_room: whether the machine has memory for the ranks of a job, before any of them starts.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/base/result.h"

namespace rankfault {

// What a rank of PyTorch over the double of CUDA needs at least. A rank that made one small sum had 270 MB of
// its own, and 54 MB of segments.
inline constexpr uint64_t kTorchRankBytes = 300u << 20;

// What is available now, and no more than the limit of this control group. nullopt: not known.
std::optional<uint64_t> memory_of_machine();
// The same from the texts of /proc/meminfo and memory.max; swap counts.
std::optional<uint64_t> memory_in(const std::string& meminfo, const std::string& limit);

// An error of the user if `ranks` of `bytes_of_one` do not fit.
Status check_memory_room(int ranks, uint64_t bytes_of_one, std::optional<uint64_t> available,
                         const SourcePos& where);

}  // namespace rankfault
