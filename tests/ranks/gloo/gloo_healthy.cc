// gloo_healthy.cc: correct programs over Gloo in which ranks wait for long. They must not be called hung.
//
//   gloo_healthy --how=WORD [--pause=1s]
//
//   evaluation  rank 0 evaluates after every second step         checkpoint  rank 0 writes to a slow disk
//   growing     each evaluation takes twice as long              first_step  the first step is compiled: skew
//   joined      uneven batches, the early ones stay as shadows   subgroups   one pair works, the other waits
//   crowded     a neighbour takes the cores                      stopped     rank 1 is stopped for a while
//   threads     a second thread waits in its own mesh            phases      all ranks compute for long
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>

#include <thread>
#include <vector>

#include "tests/ranks/gloo/rank.h"
#include "tests/ranks/pauses.h"

namespace {

using Context = std::shared_ptr<gloo::Context>;

int64_t sum(const Context& context, int64_t mine = 1) {
  std::vector<int64_t> values(256, mine);
  gloo::AllreduceOptions options(context);
  options.setOutput(values.data(), values.size());
  options.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<int64_t>));
  gloo::allreduce(options);
  return values[0];
}

void barrier(const Context& context) {
  gloo::BarrierOptions options(context);
  options.setTag(1);
  gloo::barrier(options);
}

void evaluation(Rank& me, int ms, void (*evaluate)(int)) {
  const Context world = me.world();
  for (int step = 0; step < 4; ++step) {
    sum(world);
    if (step % 2 == 1 && me.rank == 0) evaluate(ms);
  }
  barrier(world);
}

void growing(Rank& me, int ms) {
  const Context world = me.world();
  for (int part = ms / 8; part <= ms; part *= 2) {
    sum(world);
    if (me.rank == 0) sleep_ms(part);
  }
  barrier(world);
}

void first_step(Rank& me, int ms) {
  const Context world = me.world();
  compute_ms(ms * me.rank / me.size);
  for (int step = 0; step < 20; ++step) sum(world);
}

void joined(Rank& me, int ms) {
  const Context world = me.world();
  const int batches = me.rank == 1 ? 8 : 2;
  for (int batch = 0; sum(world, batch < batches) != 0; ++batch) {
    if (batch < batches) compute_ms(ms / 8);
    sum(world);
  }
}

void subgroups(Rank& me, int ms) {
  const Context world = me.world();
  const Context pair = me.connect(me.rank < 2 ? "low" : "high", me.rank % 2, 2);
  for (int part = 0; me.rank < 2 && part < 20; ++part) {
    sum(pair);
    compute_ms(ms / 20);
  }
  barrier(world);
}

void crowded(Rank& me, int ms) {
  const Context world = me.world();
  if (me.rank == 0) crowd_the_host_ms(ms);
  for (int step = 0; step < 20; ++step) {
    compute_ms(ms / 20);
    sum(world);
  }
  wait_for_helpers();
}

void stopped(Rank& me, int ms) {
  const Context world = me.world();
  for (int step = 0; step < 3; ++step) {
    sum(world);
    if (step == 1 && me.rank == 1) be_stopped_ms(ms);
  }
}

void threads(Rank& me, int ms) {
  const Context world = me.world(), beside = me.connect("beside", me.rank, me.size);
  std::thread listener([&] { barrier(beside); });
  for (int step = 0; step < 4; ++step) {
    compute_ms(ms / 4);
    sum(world);
  }
  if (me.rank == 0) sleep_ms(ms / 2);
  std::thread second([&] { sum(world); });
  second.join();
  listener.join();
}

void phases(Rank& me, int ms) {
  const Context world = me.world();
  for (int phase = 0; phase < 3; ++phase) {
    sleep_ms(ms / 2 + me.rank * ms / 10);
    sum(world);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_rank(argc, argv, [](Rank& me) {
    const std::string how = me.flag("how", "evaluation");
    const int ms = static_cast<int>(me.duration("pause", "1s").count());
    me.flags["timeout"] = "600s";
    if (how == "evaluation") return evaluation(me, ms, compute_ms);
    if (how == "checkpoint") return evaluation(me, ms, save_ms);
    if (how == "growing") return growing(me, ms);
    if (how == "first_step") return first_step(me, ms);
    if (how == "joined") return joined(me, ms);
    if (how == "subgroups") return subgroups(me, ms);
    if (how == "crowded") return crowded(me, ms);
    if (how == "stopped") return stopped(me, ms);
    if (how == "threads") return threads(me, ms);
    if (how == "phases") return phases(me, ms);
    throw std::runtime_error("no such way: " + how);
  });
}
