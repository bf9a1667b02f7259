#include "harness/reproduce/recorded_programs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace rankfault {
namespace {

// Where the recorded calls of the members of each group begin at one place: before it, some members' calls
// are not in the window.
std::vector<uint64_t> common_starts(const Case& c, const std::vector<RankProgram>& programs) {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  std::vector<uint64_t> starts;
  for (size_t g = 0; g < c.groups.size(); ++g) {
    uint64_t start = 0, first_open = kNone;
    bool absent = false;  // a member has no call on the group
    for (const int member : c.groups[g].members) {
      uint64_t first = 0;
      for (const CaseCall& call : programs[static_cast<size_t>(member)]) {
        if (call.group != static_cast<int>(g) || call.seq == 0) continue;
        if (first == 0) first = call.seq;
        if (call.open) first_open = std::min(first_open, call.seq);
      }
      start = std::max(start, first);
      absent = absent || first == 0;
    }
    starts.push_back(absent && first_open != kNone ? std::max(start, first_open) : start);
  }
  return starts;
}

class Cutter {
 public:
  explicit Cutter(const Case& c) : case_(c) { take_programs(); }
  std::vector<RankProgram> result() { return std::move(recorded_); }

 private:
  void take_programs() {
    recorded_.resize(static_cast<size_t>(case_.world_size));
    for (const CaseRank& rank : case_.ranks)
      if (rank.rank >= 0 && rank.rank < case_.world_size)
        recorded_[static_cast<size_t>(rank.rank)] = rank.calls;
    const std::vector<uint64_t> starts = common_starts(case_, recorded_);
    for (RankProgram& program : recorded_) {
      std::erase_if(program, [&](const CaseCall& call) {
        if (is_wait(call)) return false;
        if (call.group < 0) return true;
        if (is_message(call)) return call.peer < 0;
        return call.seq != 0 && call.seq < starts[static_cast<size_t>(call.group)];
      });
      for (CaseCall& call : program) {
        if (is_wait(call)) call.op = "wait";
        if (call.op == "ssend") call.op = "send";
      }
    }
    match_messages();
    equalize_shares();
    for (RankProgram& program : recorded_) drop_idle_waits(program);
  }

  static void drop_idle_waits(RankProgram& program) {
    bool pending = false;
    std::erase_if(program, [&](const CaseCall& call) {
      const bool idle = is_wait(call) && !pending;
      pending = is_wait(call) ? false : pending || call.pending;
      return idle;
    });
  }

  // Where ranks may give different counts, the replay gives the largest of them on all ranks.
  void equalize_shares() {
    static const std::set<std::string> kOwnCounts{"all_to_allv", "all_to_allw", "all_gatherv", "gatherv",
                                                  "scatterv",    "gather",      "scatter"};
    std::map<std::tuple<int, uint64_t, std::string>, int64_t> largest;
    const auto for_each = [&](auto what) {
      for (RankProgram& program : recorded_)
        for (CaseCall& call : program)
          if (kOwnCounts.count(call.op) > 0) what(call, largest[{call.group, call.seq, call.op}]);
    };
    for_each([](const CaseCall& call, int64_t& most) { most = std::max(most, call.count); });
    for_each([](CaseCall& call, int64_t most) { call.count = most; });
  }

  // The window cuts through messages: of each channel the newest ones stay that both sides made.
  void match_messages() {
    using Channel = std::tuple<int, int, int, int>;
    std::map<Channel, std::pair<size_t, size_t>> done;
    const auto channel = [](int rank, const CaseCall& call) {
      return call.op == "recv" ? Channel{call.group, call.peer, rank, call.tag}
                               : Channel{call.group, rank, call.peer, call.tag};
    };
    for (size_t r = 0; r < recorded_.size(); ++r)
      for (const CaseCall& call : recorded_[r])
        if (is_message(call) && !call.open) {
          auto& [sends, receives] = done[channel(static_cast<int>(r), call)];
          ++(call.op == "recv" ? receives : sends);
        }
    for (size_t r = 0; r < recorded_.size(); ++r)
      std::erase_if(recorded_[r], [&](const CaseCall& call) {
        if (!is_message(call) || call.open) return false;
        auto& [sends, receives] = done[channel(static_cast<int>(r), call)];
        size_t& mine = call.op == "recv" ? receives : sends;
        const size_t theirs = call.op == "recv" ? sends : receives;
        return mine > theirs ? (--mine, true) : false;
      });
  }

  const Case& case_;
  std::vector<RankProgram> recorded_;
};

}  // namespace

std::vector<RankProgram> recorded_programs(const Case& c) { return Cutter(c).result(); }

}  // namespace rankfault
