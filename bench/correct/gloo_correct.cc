// gloo_correct.cc: a correct program over plain Gloo made from a seed: a row of features, alike on all ranks.
//
//   RANK=r WORLD_SIZE=n gloo_correct --store=FOLDER --seed=S [--steps=30] [--only=FEATURE]
//
// Rank 0 prints what was used and a sum over all checked results; both depend on seed and number of ranks
// alone.
#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>
#include <gloo/transport/unbound_buffer.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

#include "tests/ranks/gloo/rank.h"

namespace {

using Context = std::shared_ptr<gloo::rendezvous::Context>;
using Reduce = void (*)(void*, const void*, const void*, size_t);

// `common` gives every rank the same numbers, `own` each rank its own.
struct World {
  Rank& me;
  Context context;
  std::mt19937 common, own;
  uint64_t sum = 0;  // of all checked results

  int below(int limit) { return static_cast<int>(common() % static_cast<unsigned>(limit)); }
  void check(bool holds, const char* what) {
    sum = sum * 31 + (holds ? 1 : 0);
    if (!holds) throw std::runtime_error(std::string("wrong result of ") + what);
  }
  void pause_sometimes() {
    if (own() % 4 == 0) usleep(own() % 4000);
  }
  Context another(int index, int members, const std::string& name) {
    return me.connect(name, index, members);
  }
};

int32_t sum_of(const Context& context, int32_t mine, uint32_t tag = 0) {
  gloo::AllreduceOptions options(context);
  options.setOutput(&mine, 1);
  options.setReduceFunction(static_cast<Reduce>(&gloo::sum<int32_t>));
  options.setTag(tag);
  gloo::allreduce(options);
  return mine;
}

void barrier(const Context& context, uint32_t tag = 0) {
  gloo::BarrierOptions options(context);
  options.setTag(tag);
  gloo::barrier(options);
}

void one_collective(World& w, const Context& context) {
  const int size = context->size, rank = context->rank, root = w.below(size);
  const auto tag = static_cast<uint32_t>(w.below(3));
  std::vector<int32_t> in(static_cast<size_t>(size), rank), out(static_cast<size_t>(size));
  switch (w.below(7)) {
    case 0:
      barrier(context, tag);
      break;
    case 1: {
      int32_t value = rank == root ? 17 : 0;
      gloo::BroadcastOptions options(context);
      options.setOutput(&value, 1);
      options.setRoot(root);
      options.setTag(tag);
      gloo::broadcast(options);
      w.check(value == 17, "broadcast");
      break;
    }
    case 2:
      w.check(sum_of(context, rank + 1, tag) == size * (size + 1) / 2, "all_reduce");
      break;
    case 3: {
      gloo::AllgatherOptions options(context);
      options.setInput(in.data(), 1);
      options.setOutput(out.data(), out.size());
      options.setTag(tag);
      gloo::allgather(options);
      w.check(out.back() == size - 1, "all_gather");
      break;
    }
    case 4: {
      gloo::GatherOptions options(context);
      options.setInput(in.data(), 1);
      if (rank == root) options.setOutput(out.data(), out.size());
      options.setRoot(root);
      options.setTag(tag);
      gloo::gather(options);
      w.check(rank != root || out.back() == size - 1, "gather");
      break;
    }
    case 5: {
      gloo::AlltoallOptions options(context);
      options.setInput(in.data(), in.size());
      options.setOutput(out.data(), out.size());
      options.setTag(tag);
      gloo::alltoall(options);
      w.check(out.back() == size - 1, "all_to_all");
      break;
    }
    default: {
      gloo::ReduceOptions options(context);
      options.setInput(in.data(), 1);
      options.setOutput(out.data(), 1);
      options.setRoot(root);
      options.setTag(tag);
      options.setReduceFunction(static_cast<Reduce>(&gloo::sum<int32_t>));
      gloo::reduce(options);
      w.check(rank != root || out[0] == size * (size - 1) / 2, "reduce");
    }
  }
}

void collectives(World& w) {
  for (int i = w.below(6); i >= 0; --i) {
    w.pause_sometimes();
    one_collective(w, w.context);
  }
}

void uneven(World& w) {
  std::vector<size_t> shares;
  for (int r = 0; r < w.me.size; ++r) shares.push_back(static_cast<size_t>(r % 3));  // some give nothing
  std::vector<int32_t> in(3, w.me.rank), out(3 * shares.size());
  gloo::AllgathervOptions options(w.context);
  options.setInput(in.data(), shares[static_cast<size_t>(w.me.rank)]);
  options.setOutput(out.data(), shares);
  gloo::allgatherv(options);
  w.check(out[0] == 1, "all_gatherv");
}

// A mesh of some ranks, used and left.
void parts(World& w) {
  const int first = w.below(w.me.size), name = w.below(1 << 20);
  const auto draws = w.common;
  if (w.me.rank >= first) {
    const Context part = w.another(w.me.rank - first, w.me.size - first, "part" + std::to_string(name));
    for (int i = 0; i < 3; ++i) one_collective(w, part);
    part->closeConnections();
  }
  w.common = draws;
}

void again(World& w) {
  barrier(w.context);
  w.context->closeConnections();
  w.context = w.another(w.me.rank, w.me.size, "again" + std::to_string(w.below(1 << 20)));
  one_collective(w, w.context);
}

// Two threads on one context keep apart by their tags.
void threads(World& w) {
  bool are_right[2] = {true, true};
  const auto sums = [&](uint32_t lane) {
    for (int i = 0; i < 10; ++i) are_right[lane] &= sum_of(w.context, 1, 10 + lane) == w.me.size;
  };
  std::thread second(sums, 1);
  sums(0);
  second.join();
  w.check(are_right[0] && are_right[1], "two threads");
}

void pending_messages(World& w) {
  const auto ranks = static_cast<size_t>(w.me.size);
  std::vector<int32_t> got(ranks, -1), mine(ranks, w.me.rank);
  auto in = w.context->createUnboundBuffer(got.data(), got.size() * 4);
  auto out = w.context->createUnboundBuffer(mine.data(), mine.size() * 4);
  for (size_t r = 0; r < ranks; ++r)
    if (static_cast<int>(r) != w.me.rank) in->recv(static_cast<int>(r), 77, 4 * r, 4);
  w.pause_sometimes();
  for (size_t r = 0; r < ranks; ++r)
    if (static_cast<int>(r) != w.me.rank) out->send(static_cast<int>(r), 77, 4 * r, 4);
  for (size_t n = 1; n < ranks; ++n) in->waitRecv();
  for (size_t n = 1; n < ranks; ++n) out->waitSend();
  for (size_t r = 0; r < ranks; ++r)
    w.check(static_cast<int>(r) == w.me.rank || got[r] == static_cast<int>(r), "messages");
}

// One rank waits in a mesh of its own making for what nobody sends, and handles the timeout.
void given_up(World& w) {
  const Context pair = w.another(w.me.rank, w.me.size, "given_up" + std::to_string(w.below(1 << 20)));
  if (w.me.rank == w.below(w.me.size)) {
    int32_t number = 0;
    auto in = pair->createUnboundBuffer(&number, 4);
    in->recv((w.me.rank + 1) % w.me.size, 5);
    bool gave_up = false;
    try {
      gave_up = !in->waitRecv(std::chrono::milliseconds(20));
    } catch (const std::exception&) {
      gave_up = true;
    }
    if (!gave_up) throw std::runtime_error("a message that nobody sent");
  }
  barrier(w.context);
}

void long_pause(World& w) {
  if (w.me.rank == w.below(w.me.size)) usleep(300000);
  barrier(w.context);
}

void helpers(World& w) { w.check(system("true | cat") == 0, "a helper"); }

struct Feature {
  const char* name;
  void (*use)(World&);
  int weight;
};
constexpr Feature kFeatures[] = {{"collectives", collectives, 8},
                                 {"uneven", uneven, 3},
                                 {"parts", parts, 4},
                                 {"again", again, 2},
                                 {"threads", threads, 4},
                                 {"given_up", given_up, 1},
                                 {"long_pause", long_pause, 1},
                                 {"helpers", helpers, 2},
                                 {"pending_messages", pending_messages, 4}};

const Feature& drawn(World& w, const std::string& only) {
  int total = 0;
  for (const Feature& f : kFeatures) total += f.weight;
  int at = w.below(total);
  for (const Feature& f : kFeatures)
    if (only.empty() ? (at -= f.weight) < 0 : only == f.name) return f;
  throw std::runtime_error("no feature " + only);
}

}  // namespace

int main(int argc, char** argv) {
  return run_rank(argc, argv, [](Rank& me) {
    const auto seed = static_cast<unsigned>(me.number("seed", 1));
    World w{me, me.world(), std::mt19937(seed),
            std::mt19937(seed * 1000003 + static_cast<unsigned>(me.rank))};
    std::map<std::string, int> used;
    for (int i = me.number("steps", 30); i > 0; --i) {
      const Feature& feature = drawn(w, me.flag("only", ""));
      if (getenv("CORRECT_VERBOSE")) fprintf(stderr, "rank %d: %s\n", me.rank, feature.name);
      feature.use(w);
      ++used[feature.name];
    }
    const int32_t all = sum_of(w.context, static_cast<int32_t>(w.sum & 0xffffff));
    if (me.rank != 0) return;
    printf("seed %u\n", seed);
    for (const auto& [name, count] : used) printf("used %s %d\n", name.c_str(), count);
    printf("sum %d\n", all);
  });
}
