#include "harness/reproduce/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/rank_words.h"

namespace rankfault {
namespace {

// Of a long list of equals: the first and the last.
void add_ends(std::set<int>& to, const std::vector<int>& of) {
  if (of.empty()) return;
  to.insert(of.front());
  to.insert(of.back());
}

class Keeper {
 public:
  Keeper(const Case& c, size_t most) : case_(c), most_(most) {
    for (size_t g = 0; g < c.groups.size(); ++g)
      for (const int r : c.groups[g].members) groups_of_[r].push_back(g);
  }

  std::vector<int> keep() {
    add_ends(kept_, case_.state.culprits);
    for (const std::vector<int>& side : case_.state.sides)
      if (kept_.size() + 1 < most_ && !side.empty()) kept_.insert(side.front());
    add_if_room(case_.state.waiters.empty() ? -1 : case_.state.waiters.back());
    add_if_room(0);
    add_if_room(case_.world_size - 1);
    while (kept_.size() < most_ && add_a_partner()) {
    }
    for (int r = 0; kept_.size() < 2 && r < case_.world_size; ++r) kept_.insert(r);
    return {kept_.begin(), kept_.end()};
  }

 private:
  void add_if_room(int rank) {
    if (rank >= 0 && kept_.size() < most_) kept_.insert(rank);
  }

  bool is_alone_in(size_t group) const {
    const std::vector<int>& members = case_.groups[group].members;
    return members.size() > 1 &&
           std::count_if(members.begin(), members.end(), [&](int r) { return kept_.count(r) > 0; }) == 1;
  }

  // Adds the rank that gives most groups with one chosen member a second one. So the corners of a grid of
  // groups are completed before ranks far from it are added.
  bool add_a_partner() {
    std::map<int, int> gain;
    std::set<size_t> touched;
    for (const int r : kept_)
      for (const size_t g : groups_of_[r]) touched.insert(g);
    for (const size_t g : touched)
      if (is_alone_in(g))
        for (const int r : case_.groups[g].members)
          if (r >= 0 && kept_.count(r) == 0) ++gain[r];
    if (gain.empty()) return false;
    const auto best = std::max_element(gain.begin(), gain.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return kept_.insert(best->first).second;
  }

  const Case& case_;
  size_t most_;
  std::set<int> kept_;
  std::map<int, std::vector<size_t>> groups_of_;
};

// Old numbers to new ones; a rank that is not kept is -1.
class Renumber {
 public:
  explicit Renumber(const std::vector<int>& keep) {
    for (size_t i = 0; i < keep.size(); ++i) to_[keep[i]] = static_cast<int>(i);
  }
  int operator()(int old) const {
    const auto at = to_.find(old);
    return at == to_.end() ? -1 : at->second;
  }
  std::vector<int> operator()(const std::vector<int>& old) const {
    std::vector<int> kept;
    for (const int r : old)
      if ((*this)(r) >= 0) kept.push_back((*this)(r));
    return kept;
  }

 private:
  std::map<int, int> to_;
};

std::vector<int> fold_groups(const Case& from, const Renumber& number, Case& to) {
  std::vector<int> place(from.groups.size(), -1);
  for (size_t g = 0; g < from.groups.size(); ++g) {
    CaseGroup group = from.groups[g];
    group.members = number(group.members);
    if (group.members.size() < 2) continue;
    place[g] = static_cast<int>(to.groups.size());
    to.groups.push_back(std::move(group));
  }
  return place;
}

// Without calls on groups that are gone, and without messages to ranks that are gone. Where a root is gone,
// the first member takes its part.
CaseRank fold_rank(const CaseRank& from, const Renumber& number, const std::vector<int>& place,
                   const std::vector<CaseGroup>& groups) {
  CaseRank to = from;
  to.rank = number(from.rank);
  to.calls.clear();
  for (CaseCall call : from.calls) {
    call.group = call.group < 0 ? -1 : place[static_cast<size_t>(call.group)];
    if (call.group < 0 && !is_wait(call)) continue;
    const int peer = call.peer;
    if (peer >= 0) call.peer = number(peer);
    if (peer >= 0 && call.peer < 0) {
      if (is_message(call)) continue;
      call.peer = groups[static_cast<size_t>(call.group)].members.front();
    }
    to.calls.push_back(std::move(call));
  }
  return to;
}

}  // namespace

std::vector<int> ranks_to_keep(const Case& c, int most) {
  if (c.world_size <= most) {
    std::vector<int> all;
    for (int r = 0; r < c.world_size; ++r) all.push_back(r);
    return all;
  }
  return Keeper(c, static_cast<size_t>(std::max(2, most))).keep();
}

Case folded(const Case& c, const std::vector<int>& keep) {
  const Renumber number(keep);
  Case to = c;
  to.world_size = static_cast<int>(keep.size());
  to.folded_from.clear();
  for (const int old : keep)
    to.folded_from.push_back(c.folded_from.empty() ? old : c.folded_from[static_cast<size_t>(old)]);
  to.groups.clear();
  const std::vector<int> place = fold_groups(c, number, to);
  to.ranks.clear();
  for (const int old : keep)
    if (const CaseRank* rank = c.rank(old)) to.ranks.push_back(fold_rank(*rank, number, place, to.groups));
  to.state.culprits = number(c.state.culprits);
  to.state.waiters = number(c.state.waiters);
  for (std::vector<int>& side : to.state.sides) side = number(side);
  std::erase_if(to.state.sides, [](const std::vector<int>& side) { return side.empty(); });
  to.folded_world = std::max(c.folded_world, c.world_size);
  return to;
}

std::string folded_text(const Case& c) {
  if (c.folded_world <= c.world_size) return "";
  return fmt::format("{} of the {} ranks stay: {} of the evidence", c.world_size, c.folded_world,
                     ranks_text(c.folded_from));
}

void scale_counts(Case& c, int64_t most) {
  int64_t largest = 0;
  for (const CaseRank& rank : c.ranks)
    for (const CaseCall& call : rank.calls) largest = std::max(largest, call.count);
  if (largest <= most) return;
  const int64_t by = (largest - 1) / most + 1;
  std::set<int64_t> counts;
  for (const CaseRank& rank : c.ranks)
    for (const CaseCall& call : rank.calls)
      if (call.count >= 0) counts.insert(call.count);
  std::map<int64_t, int64_t> scaled;
  int64_t last = -1;
  for (const int64_t count : counts)
    scaled[count] = last = std::max(last + 1, std::max<int64_t>(count > 0, count / by));
  for (CaseRank& rank : c.ranks)
    for (CaseCall& call : rank.calls)
      if (call.count >= 0) call.count = scaled[call.count];
  c.known.push_back(fmt::format("counts are divided by {}: the largest was {} elements", by, largest));
}

}  // namespace rankfault
