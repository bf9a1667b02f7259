#include "harness/reproduce/simulate.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/reproduce/recorded_programs.h"

namespace rankfault {
namespace {

// A send that is on record as complete may have been buffered: it did not need its receiver.
bool is_buffered(const CaseCall& call) { return call.op == "send" && !call.open; }

using Channel = std::tuple<int, int, int, int>;  // group, from, to, tag

class Machine {
 public:
  Machine(const std::vector<CaseGroup>& groups, const std::vector<RankProgram>& programs)
      : groups_(groups),
        programs_(programs),
        at_(programs.size()),
        posted_(programs.size()),
        posted_calls_(programs.size()) {}

  Simulated run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t r = 0; r < programs_.size(); ++r)
        while (step(static_cast<int>(r))) moved = true;
    }
    Simulated result;
    result.reached = at_;
    for (size_t r = 0; r < programs_.size(); ++r) add_stalled(static_cast<int>(r), result);
    return result;
  }

 private:
  // What a rank has posted: how many collectives of each group, how many messages on each channel.
  struct Posted {
    std::map<int, std::vector<const CaseCall*>> collectives;
    std::map<Channel, size_t> sends, receives;
  };
  struct Part {  // a posted call of a rank, and its place in its order
    const CaseCall* call;
    size_t number;
  };

  static Channel channel_of(int rank, const CaseCall& call) {
    return call.op == "recv" ? Channel{call.group, call.peer, rank, call.tag}
                             : Channel{call.group, rank, call.peer, call.tag};
  }

  Part post(int rank, const CaseCall& call) {
    Posted& posted = posted_[static_cast<size_t>(rank)];
    if (!is_message(call)) {
      std::vector<const CaseCall*>& made = posted.collectives[call.group];
      made.push_back(&call);
      return {&call, made.size()};
    }
    auto& side = call.op == "recv" ? posted.receives : posted.sends;
    return {&call, ++side[channel_of(rank, call)]};
  }

  std::vector<int> needs(int rank, const Part& part) const {
    std::vector<int> missing;
    const CaseCall& call = *part.call;
    if (is_buffered(call)) return {};
    if (is_message(call)) {
      const auto other = static_cast<size_t>(call.peer);
      if (call.peer < 0 || other >= posted_.size()) return {};
      const auto& side = call.op == "recv" ? posted_[other].sends : posted_[other].receives;
      const auto at = side.find(channel_of(rank, call));
      if (at == side.end() || at->second < part.number) missing.push_back(call.peer);
      return missing;
    }
    for (const int member : groups_[static_cast<size_t>(call.group)].members) {
      const auto& made = posted_[static_cast<size_t>(member)].collectives;
      const auto at = made.find(call.group);
      if (at == made.end() || at->second.size() < part.number || at->second[part.number - 1]->op != call.op)
        missing.push_back(member);
    }
    return missing;
  }

  // The rank's open parts: the call that it is in, or those that its wait is for.
  std::vector<Part>& open(int rank) { return posted_calls_[static_cast<size_t>(rank)]; }

  // Moves the rank by one call; false if it cannot.
  bool step(int rank) {
    const auto r = static_cast<size_t>(rank);
    const RankProgram& program = programs_[r];
    if (at_[r] >= program.size()) return false;
    const CaseCall& call = program[at_[r]];
    if (call.op != "wait" && !inside_[rank]) {
      open(rank).push_back(post(rank, call));
      if (call.pending) return ++at_[r], true;
    }
    inside_[rank] = true;
    const bool all = call.op == "wait";
    std::erase_if(open(rank),
                  [&](const Part& part) { return (all || part.call == &call) && needs(rank, part).empty(); });
    const bool held = std::any_of(open(rank).begin(), open(rank).end(),
                                  [&](const Part& part) { return all || part.call == &call; });
    if (held) return false;
    inside_[rank] = false;
    return ++at_[r], true;
  }

  void add_stalled(int rank, Simulated& result) {
    const auto r = static_cast<size_t>(rank);
    if (at_[r] >= programs_[r].size()) return;
    const bool all = programs_[r][at_[r]].op == "wait";
    for (const Part& part : open(rank)) {
      if (!all && part.call != &programs_[r][at_[r]]) continue;
      result.stalled.push_back({rank, part.call, at_[r], needs(rank, part)});
      for (const int other : result.stalled.back().needs) {
        const auto& made = posted_[static_cast<size_t>(other)].collectives;
        const auto at = made.find(part.call->group);
        if (!is_message(*part.call) && at != made.end() && at->second.size() >= part.number)
          result.mismatch = true;
      }
    }
  }

  const std::vector<CaseGroup>& groups_;
  const std::vector<RankProgram>& programs_;
  std::vector<size_t> at_;
  std::vector<Posted> posted_;
  std::vector<std::vector<Part>> posted_calls_;
  std::map<int, bool> inside_;
};

}  // namespace

Simulated simulate(const std::vector<CaseGroup>& groups, const std::vector<RankProgram>& programs) {
  return Machine(groups, programs).run();
}

}  // namespace rankfault
