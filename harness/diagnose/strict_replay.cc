// strict_replay: see strict_replay.h.
#include "harness/diagnose/strict_replay.h"

#include <algorithm>

#include "harness/diagnose/strict_record.h"

namespace rankfault {
namespace {

// What a rank lacks where it stands: the call that does not complete, and the one that was not started.
struct Lack {
  StrictPlace because, needed;
};

class Replay {
 public:
  explicit Replay(const StrictRecord& record) : record_(record), at_(record.ranks.size(), 0) {}

  // Lets every rank go as far as it can. In any order: whoever can go on, still can after others went on.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < record_.ranks.size(); ++rank)
        for (; at_[rank] < record_.ranks[rank].size() && !lacks(rank); ++at_[rank]) moved = true;
    }
  }

  std::optional<size_t> a_stuck_rank() const {
    for (size_t rank = 0; rank < record_.ranks.size(); ++rank)
      if (at_[rank] < record_.ranks[rank].size()) return rank;
    return std::nullopt;
  }

  std::optional<Lack> lacks(size_t rank) const {
    const StrictPlace here{rank, at_[rank]};
    const StrictCall& c = call(here);
    for (const StrictPlace& origin : c.waits_for)
      if (const StrictPlace* needed = first_missing(call(origin))) return Lack{origin, *needed};
    if (!c.leaves_at_once)
      if (const StrictPlace* needed = first_missing(c)) return Lack{here, *needed};
    return std::nullopt;
  }

  const StrictCall& call(StrictPlace p) const { return record_.ranks[p.rank][p.at]; }
  const StrictCall& standing(size_t rank) const { return call({rank, at_[rank]}); }

 private:
  const StrictPlace* first_missing(const StrictCall& c) const {
    const auto is_missing = [&](const StrictPlace& p) { return p.at > at_[p.rank]; };
    static const std::vector<StrictPlace> nobody;
    for (const auto* all : {&c.needs, c.meeting == kNoMeeting ? &nobody : &record_.meetings[c.meeting]})
      if (const auto i = std::find_if(all->begin(), all->end(), is_missing); i != all->end()) return &*i;
    return nullptr;
  }

  const StrictRecord& record_;
  std::vector<size_t> at_;  // the call of each rank that was started last
};

}  // namespace

std::vector<StrictWait> strict_cycle(const JobView& job) {
  const std::optional<StrictRecord> record = strict_record(job);
  if (!record) return {};
  Replay replay(*record);
  replay.run();
  std::vector<StrictWait> path;
  std::vector<size_t> ranks;
  for (std::optional<size_t> rank = replay.a_stuck_rank(); rank;) {
    if (const auto seen = std::find(ranks.begin(), ranks.end(), *rank); seen != ranks.end()) {
      path.erase(path.begin(), path.begin() + (seen - ranks.begin()));
      return path;
    }
    ranks.push_back(*rank);
    const std::optional<Lack> lack = replay.lacks(*rank);
    RF_ASSERT(lack, "a rank that stands still lacks something");
    const StrictCall &because = replay.call(lack->because), &needed = replay.call(lack->needed);
    path.push_back({because.group, because.member, replay.standing(*rank).call, because.call, needed.member,
                    needed.call});
    rank = lack->needed.rank;  // it stands still, too: else it would have come to that call
  }
  return {};
}

}  // namespace rankfault
