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

bool VersionNeed::met_by(const NcclVersion& there) const {
  return below ? there < version : there >= version;
}

namespace {

std::optional<VersionNeed> need_of(const std::string& library, const std::string& word) {
  std::string packed = word;
  packed.erase(std::remove(packed.begin(), packed.end(), ' '), packed.end());
  for (const auto& [sign, below] : {std::pair<std::string, bool>{">=", false}, {"<", true}})
    if (packed.starts_with(library + sign))
      if (const auto version = nccl_version(packed.substr(library.size() + sign.size())))
        return VersionNeed{below, *version};
  return std::nullopt;
}

}  // namespace

std::optional<VersionNeed> nccl_need(const std::string& word) { return need_of("nccl", word); }
std::optional<VersionNeed> torch_need(const std::string& word) { return need_of("torch", word); }

bool nccl_needs_met(const std::vector<std::string>& needs, const NcclVersion& version) {
  return std::all_of(needs.begin(), needs.end(), [&](const std::string& word) {
    const auto need = nccl_need(word);
    return !need || need->met_by(version);
  });
}

}  // namespace rankfault
