// simulated_job: see simulated_job.h.
#include "tests/diagnose/simulated_job.h"

#include <algorithm>

namespace rankfault::testing {
namespace {

CallSpec random_call(std::mt19937& random, int size) {
  switch (random() % 5) {
    case 0:
      return barrier();
    case 1:
      return broadcast(static_cast<int>(random() % static_cast<unsigned>(size)), 1 + random() % 3);
    case 2: {
      CallSpec reduce = broadcast(static_cast<int>(random() % static_cast<unsigned>(size)), 4, 0x5000);
      reduce.op = RF_OP_REDUCE;
      return reduce;
    }
    default:
      return all_reduce(1 + random() % 3, 0x1000 + 16 * (random() % 3));
  }
}

}  // namespace

SimulatedJob::SimulatedJob(uint32_t seed, bool mistakes)
    : random_(seed),
      ranks_(2 + static_cast<int>(random_() % 4)),
      builder_(ranks_, RF_LIB_MPI),
      state_(static_cast<size_t>(ranks_)) {
  std::vector<int> all;
  for (int r = 0; r < ranks_; ++r) all.push_back(r);
  names_ = {"world", "other", "pair"};
  members_ = {all, all, {0, ranks_ - 1}};
  builder_.comm("other", all).comm("pair", members_[2]);
  const int calls = 5 + static_cast<int>(random_() % 30);
  for (int i = 0; i < calls; ++i) {
    const size_t c = random_() % 4 == 0 ? 1 + random_() % 2 : 0;
    const CallSpec call = on(random_call(random_, static_cast<int>(members_[c].size())), names_[c]);
    for (const int r : members_[c]) state_[static_cast<size_t>(r)].program.push_back(call);
  }
  if (!mistakes) return;
  std::vector<CallSpec>& victim = state_[random_() % state_.size()].program;
  if (victim.size() < 2) return;
  const size_t at = random_() % (victim.size() - 1);
  switch (random_() % 4) {
    case 0:
      victim.erase(victim.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      victim.insert(victim.begin() + static_cast<std::ptrdiff_t>(at), all_reduce(99, 0x7777));
      break;
    case 2:
      victim[at].count += 5;
      break;
    default:
      std::swap(victim[at], victim[at + 1]);
  }
}

std::vector<int> SimulatedJob::members(const std::string& comm) const {
  return members_[static_cast<size_t>(std::find(names_.begin(), names_.end(), comm) - names_.begin())];
}

// By the data flow alone: the most permissive library there can be.
bool SimulatedJob::can_return(int rank) const {
  const Rank& me = state_[static_cast<size_t>(rank)];
  const CallSpec& call = me.program[me.next];
  auto& builder = const_cast<TimelineBuilder&>(builder_);
  const std::vector<int> all = members(call.comm);
  const auto came = [&](int r) { return builder.comm_of(r, call.comm).entered >= me.seq; };
  const bool i_am_root = call.peer >= 0 && all[static_cast<size_t>(call.peer)] == rank;
  if (call.op == RF_OP_BROADCAST) return i_am_root || came(all[static_cast<size_t>(call.peer)]);
  if (call.op == RF_OP_REDUCE && !i_am_root) return true;
  return std::all_of(all.begin(), all.end(), came);
}

bool SimulatedJob::advance() {
  std::vector<int> movable;
  for (int r = 0; r < ranks_; ++r) {
    const Rank& s = state_[static_cast<size_t>(r)];
    if (!s.dead && s.next < s.program.size() && (!s.inside || can_return(r))) movable.push_back(r);
  }
  if (movable.empty()) return false;
  const int r = movable[random_() % movable.size()];
  Rank& s = state_[static_cast<size_t>(r)];
  if (!s.inside) {
    builder_.blocked(r, s.program[s.next]);
    s.seq = builder_.comm_of(r, s.program[s.next].comm).entered;
    s.inside = true;
    return true;
  }
  builder_.returns(r);
  s.inside = false;
  if (++s.next == s.program.size()) builder_.finalized(r);
  return true;
}

bool SimulatedJob::returned(int rank, const std::string& comm, uint64_t seq) const {
  return const_cast<TimelineBuilder&>(builder_).comm_of(rank, comm).completed >= seq;
}

void SimulatedJob::kill(int rank) {
  state_[static_cast<size_t>(rank)].dead = true;
  builder_.killed(rank);
}

}  // namespace rankfault::testing
