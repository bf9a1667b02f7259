#include "harness/diagnose/messages/strict_replay.h"

#include <algorithm>

#include "harness/diagnose/messages/strict_record.h"

namespace rankfault {
namespace {

// What a rank lacks at its current call: the call that does not complete, and the call that has not started.
struct Lack {
  StrictPlace because, needed;
};

class Replay {
 public:
  explicit Replay(const StrictRecord& record)
      : record_(record), at_(record.ranks.size(), 0), met_(record.meetings.size(), 0) {}

  // Lets every rank go as far as it can. The order does not matter: a rank that can continue can still
  // continue after others did. A rank that lacks a call is checked again when that call has started.
  void run() {
    std::vector<size_t> ready;
    for (size_t rank = record_.ranks.size(); rank > 0; --rank) ready.push_back(rank - 1);
    std::vector<std::vector<Waiting>> waiting(record_.ranks.size());  // by the rank whose call they lack
    while (!ready.empty()) {
      const size_t rank = ready.back();
      ready.pop_back();
      std::optional<Lack> lack;
      for (; at_[rank] < record_.ranks[rank].size(); ++at_[rank])
        if ((lack = lacks(rank))) break;
      if (lack) waiting[lack->needed.rank].push_back({rank, lack->needed.at});
      std::erase_if(waiting[rank], [&](const Waiting& w) {
        const bool started = w.needed <= at_[rank];
        if (started) ready.push_back(w.rank);
        return started;
      });
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
  struct Waiting {
    size_t rank, needed;  // index of the other rank's call
  };

  const StrictPlace* first_missing(const StrictCall& c) const {
    const auto is_missing = [&](const StrictPlace& p) { return p.at > at_[p.rank]; };
    if (const auto i = std::find_if(c.needs.begin(), c.needs.end(), is_missing); i != c.needs.end())
      return &*i;
    if (c.meeting == kNoMeeting) return nullptr;
    const std::vector<StrictPlace>& all = record_.meetings[c.meeting];
    size_t& met = met_[c.meeting];
    while (met < all.size() && !is_missing(all[met])) ++met;
    return met < all.size() ? &all[met] : nullptr;
  }

  const StrictRecord& record_;
  std::vector<size_t> at_;           // the last started call of each rank
  mutable std::vector<size_t> met_;  // number of calls of each meeting that have started
};

}  // namespace

std::optional<std::vector<StrictWait>> strict_cycle(const JobView& job) {
  const std::optional<StrictRecord> record = strict_record(job);
  if (!record) return std::nullopt;
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
    RF_ASSERT(lack, "a waiting rank has an unmet need");
    const StrictCall &because = replay.call(lack->because), &needed = replay.call(lack->needed);
    path.push_back({because.group, because.member, replay.standing(*rank).call, because.call, needed.member,
                    needed.call});
    rank = lack->needed.rank;  // that rank does not move either: else it would have reached that call
  }
  return std::vector<StrictWait>{};
}

const std::optional<std::vector<StrictWait>>& JobView::strict_cycle() const {
  if (!strict_)
    strict_ = std::make_shared<const std::optional<std::vector<StrictWait>>>(
        timeline_.job_over ? rankfault::strict_cycle(*this) : std::nullopt);
  return *strict_;
}

}  // namespace rankfault
