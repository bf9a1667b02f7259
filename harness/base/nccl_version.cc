#include "harness/base/nccl_version.h"

#include <algorithm>
#include <charconv>

namespace rankfault {

std::optional<NcclVersion> nccl_version(const std::string& text) {
  NcclVersion out{};
  const char *at = text.data(), *end = at + text.size();
  for (int& part : out) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc() || part < 0) return std::nullopt;
    at = next;
    if (at == end) return out;
    if (*at++ != '.') return std::nullopt;
  }
  return std::nullopt;
}

bool NcclNeed::met_by(const NcclVersion& there) const { return below ? there < version : there >= version; }

std::optional<NcclNeed> nccl_need(const std::string& word) {
  std::string packed = word;
  packed.erase(std::remove(packed.begin(), packed.end(), ' '), packed.end());
  for (const auto& [start, below] : {std::pair<std::string, bool>{"nccl>=", false}, {"nccl<", true}})
    if (packed.rfind(start, 0) == 0)
      if (const auto version = nccl_version(packed.substr(start.size()))) return NcclNeed{below, *version};
  return std::nullopt;
}

bool nccl_needs_met(const std::vector<std::string>& needs, const NcclVersion& version) {
  return std::all_of(needs.begin(), needs.end(), [&](const std::string& word) {
    const auto need = nccl_need(word);
    return !need || need->met_by(version);
  });
}

}  // namespace rankfault
