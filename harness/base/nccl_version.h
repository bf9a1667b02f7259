// nccl_version: written versions of NCCL and PyTorch, and the version needs of a scenario: "nccl >= 2.27".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace rankfault {

using NcclVersion = std::array<int, 3>;  // {2, 22, 3}; parts that are not written are 0. PyTorch's, too

std::optional<NcclVersion> nccl_version(const std::string& text);

struct VersionNeed {
  bool below = false;  // "<", else ">="
  NcclVersion version{};
  bool met_by(const NcclVersion&) const;
};

// "nccl >= 2.27", "nccl < 2.23"; nullopt: the word is not such a need.
std::optional<VersionNeed> nccl_need(const std::string& word);
std::optional<VersionNeed> torch_need(const std::string& word);  // "torch >= 2.12"
// Whether all needs about a version of NCCL hold.
bool nccl_needs_met(const std::vector<std::string>& needs, const NcclVersion&);

inline constexpr const char* kVersionNeedPattern = R"(^(nccl|torch) *(>=|<) *[0-9]+(\.[0-9]+){0,2}$)";

}  // namespace rankfault
