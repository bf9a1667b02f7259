// gloo_skip_bug.cc: --steps all-reduces. With the bug on (--rank=R --at=K) rank R leaves out the K-th, from
// 1.
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
      if (buggy && step + 1 == me.number("at", 0)) continue;
      gloo::AllreduceOptions options(context);
      options.setOutput(values.data(), values.size());
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<int64_t>));
      ++me.counts["all_reduce"];
      gloo::allreduce(options);
    }
  });
}
