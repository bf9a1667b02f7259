// gloo_uneven_batches.cc: one all-reduce for each batch, while the data lasts. --rank=R has --short fewer
// batches.
//
// The loop asks rankfault_batch() as a data loader may, so that a fault can also end the data.
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>

#include <vector>

#include "harness/mark/mark.h"
#include "tests/ranks/gloo/rank.h"

int main(int argc, char** argv) {
  return run_rank(argc, argv, [&](Rank& me) {
    const auto context = me.world();
    int batches = me.number("steps", 10);
    if (me.rank == me.number("rank", -1)) batches -= me.number("short", 1);
    std::vector<int64_t> gradient(static_cast<size_t>(me.number("count", 256)), 1);
    for (int batch = 0; batch < batches && rankfault_batch(batch); ++batch) {
      rankfault_step_begin(batch);
      gloo::AllreduceOptions options(context);
      options.setOutput(gradient.data(), gradient.size());
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<int64_t>));
      ++me.counts["all_reduce"];
      gloo::allreduce(options);
      rankfault_step_commit(batch);
    }
    gloo::BarrierOptions barrier(context);  // the end of the epoch; its tag differs from that of the steps
    barrier.setTag(1);
    ++me.counts["barrier"];
    gloo::barrier(barrier);
  });
}
