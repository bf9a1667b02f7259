// nccl_version: written NCCL versions, and the version needs of a scenario: "nccl >= 2.27".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace rankfault {

using NcclVersion = std::array<int, 3>;  // {2, 22, 3}; parts that are not written are 0

std::optional<NcclVersion> nccl_version(const std::string& text);

struct NcclNeed {
  bool below = false;  // "<", else ">="
  NcclVersion version{};
  bool met_by(const NcclVersion&) const;
};

// "nccl >= 2.27", "nccl < 2.23"; nullopt: the word is not such a need.
std::optional<NcclNeed> nccl_need(const std::string& word);
// Whether all needs about a version hold.
bool nccl_needs_met(const std::vector<std::string>& needs, const NcclVersion&);

inline constexpr const char* kNcclNeedPattern = R"(^nccl *(>=|<) *[0-9]+(\.[0-9]+){0,2}$)";

}  // namespace rankfault
