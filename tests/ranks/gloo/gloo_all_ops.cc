// gloo_all_ops.cc: every collective of Gloo, --steps times, each with its own count.
#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <numeric>
#include <vector>

#include "tests/ranks/gloo/rank.h"

using Reduce = void (*)(void*, const void*, const void*, size_t);

int main(int argc, char** argv) {
  return run_rank(argc, argv, [&](Rank& me) {
    const auto world = me.world();
    const size_t n = static_cast<size_t>(me.size);
    const int root = me.size - 1;
    std::vector<int32_t> in(64 * n, me.rank), out(64 * n);
    std::vector<size_t> shares(n);  // rank r contributes r elements, so rank 0 none
    std::iota(shares.begin(), shares.end(), 0);
    const std::vector<int64_t> ones(n, 1);
    const auto call = [&](const char* name, auto options, auto fill, auto function) {
      fill(options);
      ++me.counts[name];
      function(options);
    };
    using namespace gloo;
    for (int step = 0; step < me.number("steps", 2); ++step) {
      call(
          "all_reduce", AllreduceOptions(world),
          [&](auto& o) {
            o.setOutput(out.data(), 2);
            o.setReduceFunction(static_cast<Reduce>(&sum<int32_t>));
          },
          allreduce);
      call(
          "broadcast", BroadcastOptions(world),
          [&](auto& o) {
            o.setOutput(out.data(), 3);
            o.setRoot(root);
          },
          broadcast);
      call(
          "reduce", ReduceOptions(world),
          [&](auto& o) {
            o.setInput(in.data(), 4);
            o.setOutput(out.data(), 4);
            o.setRoot(root);
            o.setReduceFunction(static_cast<Reduce>(&sum<int32_t>));
          },
          reduce);
      call(
          "all_gather", AllgatherOptions(world),
          [&](auto& o) {
            o.setInput(in.data(), 5);
            o.setOutput(out.data(), 5 * n);
          },
          allgather);
      call(
          "all_gatherv", AllgathervOptions(world),
          [&](auto& o) {
            o.setInput(in.data(), shares[static_cast<size_t>(me.rank)]);
            o.setOutput(out.data(), shares);
          },
          allgatherv);
      call(
          "gather", GatherOptions(world),
          [&](auto& o) {
            o.setInput(in.data(), 6);
            o.setRoot(root);
            if (me.rank == root) o.setOutput(out.data(), 6 * n);
          },
          gather);
      call(
          "scatter", ScatterOptions(world),
          [&](auto& o) {
            std::vector<int32_t*> parts;
            for (size_t r = 0; r < n; ++r) parts.push_back(in.data() + 7 * r);
            if (me.rank == root) o.setInputs(parts, 7);
            o.setOutput(out.data(), 7);
            o.setRoot(root);
          },
          scatter);
      call(
          "all_to_all", AlltoallOptions(world),
          [&](auto& o) {
            o.setInput(in.data(), 8 * n);
            o.setOutput(out.data(), 8 * n);
          },
          alltoall);
      call(
          "all_to_allv", AlltoallvOptions(world),
          [&](auto& o) {
            o.setInput(in.data(), ones);
            o.setOutput(out.data(), ones);
          },
          alltoallv);
      call(
          "barrier", BarrierOptions(world), [](auto&) {}, barrier);
    }
  });
}
