// gloo_mismatch.cc: --steps all-reduces. With the bug on (--rank=R --at=K) rank R's K-th has half the count.
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <vector>

#include "tests/ranks/gloo/rank.h"

int main(int argc, char** argv) {
  return run_rank(argc, argv, [&](Rank& me) {
    const auto context = me.world();
    const bool buggy = me.rank == me.number("rank", -1);
    std::vector<int64_t> values(static_cast<size_t>(me.number("count", 256)), 1);
    for (int step = 0; step < me.number("steps", 10); ++step) {
      const bool now = buggy && step + 1 == me.number("at", 0);
      gloo::AllreduceOptions options(context);
      options.setOutput(values.data(), now ? values.size() / 2 : values.size());
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<int64_t>));
      ++me.counts["all_reduce"];
      gloo::allreduce(options);
    }
  });
}
