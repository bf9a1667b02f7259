#include "harness/observe/bystanders.h"

#include <algorithm>

namespace rankfault {
namespace {

constexpr int kKeptBadEnds = 4;  // of one rank

bool over(const RankClaim& c) { return c.end.kind == EndKind::kEnded; }
bool ended_well(const RankClaim& c) {
  return over(c) && c.end.status_known && !c.end.by_signal && c.end.value == 0;
}
bool by_begin(const RankClaim& a, const RankClaim& b) {
  return std::tie(a.opened, a.process) < std::tie(b.opened, b.process);
}

}  // namespace

void Bystanders::take(const RankClaim& claim) {
  forget(claim.process);
  std::vector<RankClaim>& same = claims_[key_of(claim)];
  same.insert(std::upper_bound(same.begin(), same.end(), claim, by_begin), claim);
  keys_[claim.process] = key_of(claim);
}

void Bystanders::forget(const ProcessId& process) {
  const auto key = keys_.find(process);
  if (key == keys_.end()) return;
  const auto same = claims_.find(key->second);
  std::erase_if(same->second, [&](const RankClaim& c) { return c.process == process; });
  if (same->second.empty()) claims_.erase(same);
  keys_.erase(key);
}

const RankClaim* Bystanders::find(const ProcessId& process) const {
  const auto key = keys_.find(process);
  if (key == keys_.end()) return nullptr;
  for (const RankClaim& c : claims_.at(key->second))
    if (c.process == process) return &c;
  return nullptr;
}

// Other processes that made the same claim and lived when this one began. (A process that called exec is not
// another one.)
template <typename Is>
bool Bystanders::has_elder(const RankClaim& claim, Is is) const {
  for (const RankClaim& other : claims_.at(key_of(claim))) {
    if (other.opened >= claim.opened) return false;
    const bool itself = other.process.pid == claim.process.pid && other.process.start == claim.process.start;
    if (!itself && (!over(other) || other.end.time > claim.opened) && is(other)) return true;
  }
  return false;
}

bool Bystanders::is_one(const ProcessId& process) const {
  const RankClaim* claim = find(process);
  return claim && !claim->took_part && has_elder(*claim, [](const RankClaim&) { return true; });
}

bool Bystanders::is_over(const RankClaim& claim) const {
  return !claim.took_part && over(claim) &&
         has_elder(claim, [](const RankClaim& elder) { return elder.took_part || !over(elder); });
}

bool Bystanders::is_over(const ProcessId& process) const {
  const RankClaim* claim = find(process);
  return claim && is_over(*claim);
}

std::vector<ProcessId> Bystanders::forgettable() const {
  std::vector<ProcessId> out;
  for (const auto& [key, same] : claims_) {
    int bad = 0;
    for (auto claim = same.rbegin(); claim != same.rend(); ++claim) {
      if (!is_over(*claim)) continue;
      if (ended_well(*claim) || has_elder(*claim, [](const RankClaim& e) { return e.took_part; }) ||
          ++bad > kKeptBadEnds)
        out.push_back(claim->process);
    }
  }
  return out;
}

}  // namespace rankfault
