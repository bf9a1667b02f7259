// gloo_world.h: what the features of gloo_correct.cc share: numbers, checked results, one collective.
#ifndef RANKFAULT_BENCH_CORRECT_GLOO_WORLD_H
#define RANKFAULT_BENCH_CORRECT_GLOO_WORLD_H

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <unistd.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/ranks/gloo/rank.h"

using Context = std::shared_ptr<gloo::rendezvous::Context>;
using Reduce = void (*)(void*, const void*, const void*, size_t);

// `common` gives every rank the same numbers, `own` gives each rank different ones.
struct World {
  Rank& me;
  Context context;
  std::mt19937 common, own;
  uint64_t sum = 0;  // of all checked results
  int meshes = 0;    // made so far; each has a name of its own

  int below(int limit) { return static_cast<int>(common() % static_cast<unsigned>(limit)); }
  std::string new_name() { return "mesh" + std::to_string(++meshes); }
  void check(bool holds, const char* what) {
    sum = sum * 31 + (holds ? 1 : 0);
    if (!holds) throw std::runtime_error(std::string("wrong result of ") + what);
  }
  void pause_sometimes() {
    if (own() % 4 == 0) usleep(own() % 4000);
  }
};

inline int32_t sum_of(const Context& context, int32_t mine, uint32_t tag = 0) {
  gloo::AllreduceOptions options(context);
  options.setOutput(&mine, 1);
  options.setReduceFunction(static_cast<Reduce>(&gloo::sum<int32_t>));
  options.setTag(tag);
  gloo::allreduce(options);
  return mine;
}

inline void barrier(const Context& context, uint32_t tag = 0) {
  gloo::BarrierOptions options(context);
  options.setTag(tag);
  gloo::barrier(options);
}

inline void one_collective(World& w, const Context& context) {
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

#endif  // RANKFAULT_BENCH_CORRECT_GLOO_WORLD_H
