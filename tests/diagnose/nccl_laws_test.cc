// nccl_laws_test: the laws of laws_test for operations that are enqueued and complete by themselves. In
// random programs of NCCL, an operation runs as soon as all operations before it on its stream are complete.
// It is seen complete at any time after it, and all that it needs, run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "harness/diagnose/waits/stream_order.h"
#include "tests/diagnose/finding_of.h"
#include "tests/falsify/refute.h"

namespace rankfault::testing {
namespace {

// RANKFAULT_FUZZ_SEEDS asks for more.
uint32_t seeds() {
  const char* asked = std::getenv("RANKFAULT_FUZZ_SEEDS");
  return asked ? static_cast<uint32_t>(std::strtoul(asked, nullptr, 10)) : 3000;
}

class SimulatedNccl {
 public:
  SimulatedNccl(uint32_t seed, bool mistakes)
      : random_(seed),
        ranks_(2 + static_cast<int>(random_() % 3)),
        builder_(ranks_, RF_LIB_NCCL),
        state_(static_cast<size_t>(ranks_)) {
    const std::vector<int> pair = {0, ranks_ - 1};
    builder_.comm("pair", pair);
    const bool one_stream = random_() % 2;
    buffers_sends_ = random_() % 2;
    const bool two_threads = seed % 4 == 0;  // their messages match in the order of the calls of both
    for (unsigned i = 0, calls = 4 + random_() % 12; i < calls; ++i) {
      if (random_() % 4 == 0) {
        const int to = static_cast<int>(random_() % 2);
        for (const int me : {0, 1}) {
          CallSpec message = on(me == to ? recv(1 - me) : send(1 - me), "pair");
          message.flags |= RF_CALL_NONBLOCKING;
          message.tag = one_stream ? 1 : 2;
          if (two_threads) message.lane = random_() % 2;
          of(me == 0 ? 0 : ranks_ - 1).program.push_back(message);
        }
        continue;
      }
      CallSpec call = random_() % 3 ? all_reduce(1 + random_() % 3) : broadcast(0);
      call.flags |= RF_CALL_NONBLOCKING;
      call.comm = random_() % 4 ? "world" : "pair";
      call.tag = one_stream || call.comm == "world" ? 1 : 2;
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

  // One rank enqueues, waits, sees a completion, or ends well. Returns false when no rank can.
  bool advance() {
    const int first = static_cast<int>(random_() % static_cast<unsigned>(ranks_));
    for (int i = 0; i < ranks_; ++i)
      if (step((first + i) % ranks_)) return true;
    return false;
  }

  // Kills the rank by a signal, sometimes inside a host call.
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
    int stream;
    size_t on_device;
  };
  struct OnDevice {
    CallSpec call;
    uint64_t seq;  // in the communicator's order, or among the messages of its direction
    bool done = false;
  };
  struct Rank {
    std::vector<CallSpec> program;
    size_t next = 0;
    std::vector<Pending> pending;
    std::vector<OnDevice> device;
    bool waits = false, ended = false;
    int waited_stream = 0;
  };
  Rank& of(int r) { return state_[static_cast<size_t>(r)]; }

  static bool is_message(const CallSpec& c) { return c.op == RF_OP_SEND || c.op == RF_OP_RECV; }
  bool runs(int r, size_t at) {
    for (size_t i = 0; i < at; ++i)
      if (!of(r).device[i].done && of(r).device[i].call.tag == of(r).device[at].call.tag) return false;
    return true;
  }
  // A device continues with its queue when its process is dead.
  bool part_runs(int r, uint16_t op, const std::string& comm, uint64_t seq) {
    const bool message = op == RF_OP_SEND || op == RF_OP_RECV;
    for (size_t i = 0; i < of(r).device.size(); ++i) {
      const OnDevice& d = of(r).device[i];
      if (is_message(d.call) == message && (!message || d.call.op == op) && d.call.comm == comm &&
          d.seq == seq)
        return runs(r, i);
    }
    return false;
  }
  bool completes(int me, const OnDevice& d) {
    if (d.call.op == RF_OP_SEND && buffers_sends_) return true;
    uint16_t other = d.call.op;
    if (is_message(d.call)) other = other == RF_OP_SEND ? uint16_t{RF_OP_RECV} : uint16_t{RF_OP_SEND};
    for (int r = 0; r < ranks_; ++r) {
      const bool member = d.call.comm == "world" || r == 0 || r == ranks_ - 1;
      const bool needed = is_message(d.call) ? r != me : d.call.op == RF_OP_ALL_REDUCE || r == 0;
      if (member && needed && !part_runs(r, other, d.call.comm, d.seq)) return false;
    }
    return true;
  }
  void run_devices() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < ranks_; ++r)
        for (size_t i = 0; i < of(r).device.size(); ++i) {
          OnDevice& d = of(r).device[i];
          if (d.done || !runs(r, i) || !completes(r, d)) continue;
          d.done = moved = true;
        }
    }
  }
  bool can_complete(int r, const Pending& p) { return of(r).device[p.on_device].done; }
  uint64_t place_of(int r, const CallSpec& c) {
    const CommView& comm = builder_.comm_of(r, c.comm);
    return c.op == RF_OP_SEND ? comm.sends : c.op == RF_OP_RECV ? comm.receives : comm.entered;
  }

  bool see_complete(int r, bool one) {
    Rank& me = of(r);
    for (size_t i = 0; i < me.pending.size();) {
      const Pending p = me.pending[i];
      if ((me.waits && p.stream != me.waited_stream) || !can_complete(r, p)) {
        ++i;
        continue;
      }
      builder_.completes(r, p.origin, p.call.comm, is_message(p.call) ? 0 : p.seq);
      me.pending.erase(me.pending.begin() + static_cast<std::ptrdiff_t>(i));
      if (one) return true;
    }
    return false;
  }

  bool return_from_wait(int r) {
    Rank& me = of(r);
    for (const Pending& p : me.pending)
      if (p.stream == me.waited_stream && !can_complete(r, p)) return false;
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
    const uint64_t place = place_of(r, call);
    me.device.push_back({call, place});
    me.pending.push_back({call, builder_.last_origin(r, call.lane), place, call.tag, me.device.size() - 1});
    run_devices();
    return true;
  }

  std::mt19937 random_;
  int ranks_;
  bool buffers_sends_ = false;
  TimelineBuilder builder_;
  std::vector<Rank> state_;
};

TEST(NcclLaws, NoProvenClaimIsRefutedByTheRestOfTheRun) {
  std::map<std::string, int> proven;
  const uint32_t kSeeds = seeds();
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

// Operations in a circle on their streams never complete, whichever rank waits or dies. A run without a
// mistake has no circle. Checked at every cut, without patience.
TEST(NcclLaws, NoCallOfACircleOnStreamsEverCompletes) {
  const DiagnoseOptions at_once{1ns, 1ns};
  int circles = 0;
  const uint32_t kSeeds = seeds();
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const bool mistakes = seed % 2 == 0;
    SimulatedNccl job(seed, mistakes);
    std::mt19937 random(seed);
    std::vector<std::pair<int, std::pair<uint32_t, uint32_t>>> never;
    for (bool moved = true; moved;) {
      moved = job.advance();
      if (moved && random() % 4 != 0) continue;
      const Timeline now = job.timeline();
      const JobView view(now);
      const StreamKnot knot = view.stream_knot(at_once);
      ASSERT_TRUE(mistakes || knot.steps.empty()) << "seed " << seed;
      circles += !knot.steps.empty();
      for (const StreamKnot::Step& s : knot.steps)
        never.push_back({s.at->world_rank, {s.before->lane, s.before->number}});
    }
    const Timeline end = job.timeline();
    const JobView whole(end);
    for (const auto& [rank, call] : never) {
      const Call* c = whole.rank(rank)->find(call.first, call.second);
      ASSERT_TRUE(c && !c->succeeded()) << "seed " << seed << " rank " << rank << " call " << call.second;
    }
  }
  std::printf("%u runs, %d looks with a circle; no call of one completed\n", kSeeds, circles);
  EXPECT_GT(circles, 300) << "found too rarely to have been tried";
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
