// gloo_two_comms.cc: every step all-reduces once over all ranks, then twice over the half (even or odd) of
// the rank.
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <vector>

#include "tests/ranks/gloo/rank.h"

int main(int argc, char** argv) {
  return run_rank(argc, argv, [&](Rank& me) {
    const auto world = me.world();
    const int half = me.rank % 2;
    const auto part = me.connect(half ? "odd" : "even", me.rank / 2, (me.size + 1 - half) / 2);
    std::vector<float> values(static_cast<size_t>(me.number("count", 256)), 1.0f);
    const auto all_reduce = [&](const std::shared_ptr<gloo::Context>& context, const char* counted_as) {
      gloo::AllreduceOptions options(context);
      options.setOutput(values.data(), values.size());
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::max<float>));
      ++me.counts[counted_as];
      gloo::allreduce(options);
    };
    for (int step = 0; step < me.number("steps", 10); ++step) {
      all_reduce(world, "all_reduce.world");
      all_reduce(part, "all_reduce.half");
      all_reduce(part, "all_reduce.half");
    }
  });
}
