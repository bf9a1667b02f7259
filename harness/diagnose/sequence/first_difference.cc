#include "harness/diagnose/sequence/first_difference.h"

#include <algorithm>
#include <unordered_map>

#include "harness/diagnose/sequence/sequences.h"

namespace rankfault {

bool others_match(const Call& c) {
  return c.op() != RF_OP_FINALIZE && (c.op() != RF_OP_COMM_FREE || c.open());
}

namespace {

// The calls at one place, one per member. Their shapes decide whether they fit, and a loop repeats its
// shapes: combinations that were compared before are not compared again.
class Compared {
 public:
  void clear() { calls_.clear(), shapes_.clear(); }
  void add(const Call& c) {
    calls_.push_back(&c);
    shapes_.push_back(c.shape);
  }
  bool all_fit() {
    if (calls_.size() < 2) return true;
    std::vector<const CallShape*>& before = fit_[shapes_.front()];
    if (before == shapes_) return true;
    CallsAtOnePlace calls;
    for (const Call* c : calls_)
      if (!calls.add(*c).empty()) return false;
    before = shapes_;
    return true;
  }

 private:
  std::vector<const Call*> calls_;
  std::vector<const CallShape*> shapes_;
  std::unordered_map<const CallShape*, std::vector<const CallShape*>> fit_;  // by the first shape
};

// Walks the calls of all members side by side.
uint64_t find_first_difference(const CommGroup& group) {
  const uint64_t first = group.first_seq();
  std::vector<std::pair<const Call* const*, const Call* const*>> at;
  for (const Member& m : group.members) {
    const Call* const* begin = m.calls.data();
    const Call* const* end = begin + m.calls.size();
    while (begin != end && (*begin)->seq < first) ++begin;
    at.emplace_back(begin, end);
  }
  for (Compared calls;; calls.clear()) {
    uint64_t seq = ~uint64_t{0};
    for (const auto& [next, end] : at)
      if (next != end) seq = std::min(seq, (*next)->seq);
    if (seq == ~uint64_t{0}) return 0;
    for (auto& [next, end] : at)
      for (bool first_of_it = true; next != end && (*next)->seq == seq; first_of_it = false) {
        const Call* c = *next++;
        if (!others_match(*c) || !first_of_it) continue;  // a group of calls may share a place
        calls.add(*c);
      }
    if (!calls.all_fit()) return seq;
  }
}

}  // namespace

uint64_t first_difference(const CommGroup& group) {
  if (!group.differs_from) group.differs_from = find_first_difference(group);
  return *group.differs_from;
}

}  // namespace rankfault
