// nccl_laws_test: the laws of laws_test over operations that are enqueued and complete by themselves: random
// programs of NCCL, in which an operation completes at any time after what it needs was enqueued.
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "tests/diagnose/finding_of.h"
#include "tests/falsify/refute.h"

namespace rankfault::testing {
namespace {

class SimulatedNccl {
 public:
  SimulatedNccl(uint32_t seed, bool mistakes)
      : random_(seed),
        ranks_(2 + static_cast<int>(random_() % 3)),
        builder_(ranks_, RF_LIB_NCCL),
        state_(static_cast<size_t>(ranks_)) {
    const std::vector<int> pair = {0, ranks_ - 1};
    builder_.comm("pair", pair);
    for (unsigned i = 0, calls = 4 + random_() % 12; i < calls; ++i) {
      CallSpec call = random_() % 3 ? all_reduce(1 + random_() % 3) : broadcast(0);
      call.flags |= RF_CALL_NONBLOCKING;
      call.comm = random_() % 4 ? "world" : "pair";
      for (int r = 0; r < ranks_; ++r)
        if (call.comm == "world" || r == 0 || r == ranks_ - 1) of(r).program.push_back(call);
    }
    std::vector<CallSpec>& victim = of(static_cast<int>(random_()) & 1).program;
    if (!mistakes || victim.size() < 2) return;
    const size_t at = random_() % (victim.size() - 1);
    if (random_() % 2)
      victim.erase(victim.begin() + static_cast<std::ptrdiff_t>(at));
    else
      std::swap(victim[at], victim[at + 1]);
  }

  int ranks() const { return ranks_; }
  Timeline timeline() const { return builder_.build(); }

  // One rank enqueues, waits, sees something complete, or ends well. False when nobody can.
  bool advance() {
    const int first = static_cast<int>(random_() % static_cast<unsigned>(ranks_));
    for (int i = 0; i < ranks_; ++i)
      if (step((first + i) % ranks_)) return true;
    return false;
  }

  // By a signal, sometimes inside a host call.
  void kill(int r) {
    if (of(r).ended) return;
    if (!of(r).waits && of(r).next < of(r).program.size() && random_() % 3 == 0)
      builder_.blocked(r, of(r).program[of(r).next]);
    of(r).ended = true;
    builder_.killed(r);
  }

 private:
  struct Pending {
    CallSpec call;
    uint64_t origin, seq;
    unsigned stream;
  };
  struct Rank {
    std::vector<CallSpec> program;
    size_t next = 0;
    std::vector<Pending> pending;
    bool waits = false, ended = false;
    unsigned waited_stream = 0;
  };
  Rank& of(int r) { return state_[static_cast<size_t>(r)]; }

  // As soon as those it needs have enqueued theirs, dead or not.
  bool can_complete(const Pending& p) {
    const bool all = p.call.op == RF_OP_ALL_REDUCE;
    for (int r = 0; r < ranks_; ++r) {
      const bool member = p.call.comm == "world" || r == 0 || r == ranks_ - 1;
      if (member && (all || r == 0) && builder_.comm_of(r, p.call.comm).entered < p.seq) return false;
    }
    return true;
  }

  bool see_complete(int r, bool one) {
    Rank& me = of(r);
    for (size_t i = 0; i < me.pending.size();) {
      const Pending p = me.pending[i];
      if ((me.waits && p.stream != me.waited_stream) || !can_complete(p)) {
        ++i;
        continue;
      }
      builder_.completes(r, p.origin, p.call.comm, p.seq);
      me.pending.erase(me.pending.begin() + static_cast<std::ptrdiff_t>(i));
      if (one) return true;
    }
    return false;
  }

  bool return_from_wait(int r) {
    Rank& me = of(r);
    for (const Pending& p : me.pending)
      if (p.stream == me.waited_stream && !can_complete(p)) return false;
    see_complete(r, false);
    builder_.returns(r);
    me.waits = false;
    return true;
  }

  bool step(int r) {
    Rank& me = of(r);
    if (me.ended) return false;
    if (me.waits) return return_from_wait(r);
    if (random_() % 4 == 0 && see_complete(r, true)) return true;
    const bool over = me.next == me.program.size();
    if (!me.pending.empty() && (over || random_() % 3 == 0)) {
      std::vector<uint64_t> origins;
      me.waited_stream = me.pending[random_() % me.pending.size()].stream;
      for (const Pending& p : me.pending)
        if (p.stream == me.waited_stream) origins.push_back(p.origin);
      builder_.host_waits(r, origins);
      return me.waits = true;
    }
    if (over) {
      me.ended = true;
      builder_.exits(r, 0);
      return true;
    }
    const CallSpec& call = me.program[me.next++];
    builder_.enqueues(r, call);
    me.pending.push_back({call, builder_.last_origin(r), builder_.comm_of(r, call.comm).entered,
                          static_cast<unsigned>(random_() % 2)});
    return true;
  }

  std::mt19937 random_;
  int ranks_;
  TimelineBuilder builder_;
  std::vector<Rank> state_;
};

TEST(NcclLaws, NoProvenClaimIsRefutedByTheRestOfTheRun) {
  std::map<std::string, int> proven;
  constexpr uint32_t kSeeds = 3000;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SimulatedNccl job(seed, seed % 3 == 0);
    std::mt19937 random(seed * 77);
    std::vector<Finding> claims;
    const size_t end_at = random() % 60;
    int gave_up = 0;
    for (size_t step = 0;; ++step) {
      if (step == end_at) job.kill(static_cast<int>(random() % static_cast<unsigned>(job.ranks())));
      const bool moved = job.advance();
      if (!moved || random() % 6 == 0)
        for (Finding& f : diagnose(job.timeline()).all)
          if (f.claim != Claim::kNone) {
            ++proven[f.kind];
            claims.push_back(std::move(f));
          }
      if (!moved && gave_up == job.ranks()) break;
      if (!moved) job.kill(gave_up++);
    }
    const Timeline end = job.timeline();
    const JobView whole(end);
    for (const Finding& f : claims)
      ASSERT_EQ(refutation(whole, f), "") << "seed " << seed << "\n" << to_json(f).dump(1);
  }
  std::printf("%u runs", kSeeds);
  for (const auto& [kind, count] : proven) std::printf(", %d with a proven %s", count, kind.c_str());
  std::printf("; none was refuted\n");
  EXPECT_GT(proven["dead_rank"], 1000) << "claimed too rarely to have been tried";
  EXPECT_GT(proven["call_mismatch"], 100);
}

TEST(NcclLaws, AHealthyRunIsHealthyAtEveryCut) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SimulatedNccl job(seed, false);
    while (job.advance()) {
      const Findings found = diagnose(job.timeline());
      ASSERT_TRUE(found.nothing_wrong() || found.cannot_say())
          << "seed " << seed << ": " << to_json(found).dump(1);
    }
  }
}

}  // namespace
}  // namespace rankfault::testing
