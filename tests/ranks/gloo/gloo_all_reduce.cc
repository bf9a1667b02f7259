// gloo_all_reduce.cc: --steps all-reduces of --count int64, then exit 0. A wrong sum exits with 4. Rank 0
// prints the nanoseconds of one all-reduce.
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "tests/ranks/gloo/rank.h"

int main(int argc, char** argv) {
  bool right = true;
  const int code = run_rank(argc, argv, [&](Rank& me) {
    const auto context = me.world();
    const int steps = me.number("steps", 10);
    std::vector<int64_t> values(static_cast<size_t>(me.number("count", 256)));
    const auto began = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; ++step) {
      std::fill(values.begin(), values.end(), me.rank + step);
      gloo::AllreduceOptions options(context);
      options.setOutput(values.data(), values.size());
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<int64_t>));
      options.setTag(static_cast<uint32_t>(me.number("tag", 0)));
      if (const int work = me.number("work-us", 0)) usleep(static_cast<useconds_t>(work));
      ++me.counts["all_reduce"];
      gloo::allreduce(options);
      const int64_t want = int64_t{me.size} * (me.size - 1) / 2 + int64_t{me.size} * step;
      for (const int64_t value : values) right = right && value == want;
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
    if (me.rank == 0 && steps > 0) std::printf("ns per call %.1f\n", took.count() / steps);
  });
  if (code == 0 && !right) fprintf(stderr, "a sum was wrong\n");
  return code ? code : right ? 0 : 4;
}
