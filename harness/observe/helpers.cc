#include "harness/observe/helpers.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace rankfault {
namespace {

bool is_member(const ProcessView& p) { return p.stage >= RF_STAGE_MEMBER; }
bool has_peers(const ProcessView& p) { return p.world_size > 1; }

bool lived_when_began(const ProcessView& elder, const ProcessView& p) {
  return elder.opened <= p.opened && (elder.end.kind == EndKind::kAlive || elder.end.time > p.opened);
}

bool is_world(const CommView& c) { return c.id != 0 && (c.flags & RF_COMM_WORLD); }

bool knows_its_world(const ProcessView& p) { return std::any_of(p.comms.begin(), p.comms.end(), is_world); }

// An intercommunicator joins two worlds and belongs to neither.
bool share_a_communicator(const ProcessView& a, const ProcessView& b) {
  for (const CommView& x : a.comms)
    for (const CommView& y : b.comms)
      if (x.id != 0 && x.id == y.id && !((x.flags | y.flags) & RF_COMM_INTER)) return true;
  return false;
}

class Finder {
 public:
  explicit Finder(std::vector<ProcessView>& all) : all_(all) {
    for (ProcessView& p : all_)
      if (is_member(p)) by_pid_.emplace(p.id.pid, &p);
  }

  void mark() {
    for (ProcessView& p : all_) p.helper = is_member(p) && (p.spawned || is_helper(p));
    for (ProcessView& p : all_)
      if (is_member(p) && !p.helper && has_peers(p))
        for (ProcessView* elder : ancestors(p))
          if (!has_peers(*elder) && !share_a_communicator(*elder, p)) elder->helper = true;
  }

 private:
  // Members from which it descends and that lived when it began.
  std::vector<ProcessView*> ancestors(const ProcessView& p) const {
    std::vector<ProcessView*> found;
    for (const int32_t pid : p.ancestors) {
      const auto [from, to] = by_pid_.equal_range(pid);
      for (auto at = from; at != to; ++at) {
        ProcessView& elder = *at->second;
        if (elder.id.host == p.id.host && elder.id.pid_ns == p.id.pid_ns && elder.attempt == p.attempt &&
            lived_when_began(elder, p))
          found.push_back(&elder);
      }
    }
    return found;
  }

  bool is_helper(const ProcessView& p) const {
    const std::vector<ProcessView*> elders = ancestors(p);
    return std::any_of(elders.begin(), elders.end(),
                       [&](const ProcessView* e) { return is_helper_of(p, *e); });
  }

  bool is_helper_of(const ProcessView& p, const ProcessView& elder) const {
    if (has_peers(p) && !has_peers(elder)) return false;
    if (share_a_communicator(p, elder)) return false;
    if (p.rank == elder.rank) return true;
    if (knows_its_world(p) && knows_its_world(elder)) return true;
    return std::any_of(all_.begin(), all_.end(), [&](const ProcessView& other) {
      return &other != &p && other.rank == p.rank && is_member(other) && lived_when_began(other, p) &&
             share_a_communicator(other, elder);
    });
  }

  std::vector<ProcessView>& all_;
  std::unordered_multimap<int, ProcessView*> by_pid_;
};

}  // namespace

void mark_helpers(std::vector<ProcessView>& processes) { Finder(processes).mark(); }

}  // namespace rankfault
