// unsafe_law_test: for random programs, `unsafe` is reported exactly for those that get stuck in a library
// that buffers nothing.
#include <cstdio>

#include "tests/diagnose/finding_of.h"
#include "tests/diagnose/simulated_job.h"

namespace rankfault::testing {
namespace {

using Library = SimulatedJob::Library;

// The program of a seed, in a library. `orders`: the number of orders that may need a library that buffers.
SimulatedJob program(uint32_t seed, int orders, Library library) {
  SimulatedJob job(seed, false, library);
  for (int i = 0; i < orders; ++i) job.add_unsafe_orders();
  while (job.advance()) {
  }
  return job;
}

TEST(UnsafeLaw, IsSaidOfProgramsThatGetStuckWhereNothingIsBuffered) {
#ifdef __SANITIZE_ADDRESS__
  constexpr uint32_t kSeeds = 1000;
#else
  constexpr uint32_t kSeeds = 6000;
#endif
  int unsafe = 0, safe = 0, choices = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const int orders = static_cast<int>(seed % 4);
    SimulatedJob job = program(seed, orders, Library::kByPlace);
    // A receive from any source may take the message that another one needs: such a program is not correct.
    ASSERT_TRUE(job.has_ended() || job.leaves_a_choice()) << "seed " << seed;
    if (!job.has_ended()) continue;
    for (int r = 0; r < job.ranks(); ++r) job.end(r);
    const Findings found = diagnose(job.timeline());
    if (found.cannot_say()) continue;  // a rank without a call
    ASSERT_TRUE(found.nothing_wrong()) << "seed " << seed << ": " << to_json(found).dump(1);
    const bool ends = program(seed, orders, Library::kStrict).has_ended();
    if (ends || !job.leaves_a_choice()) {
      ASSERT_EQ(found.unsafe.empty(), ends) << "seed " << seed << (ends ? found.unsafe[0].text : "");
    }
    choices += job.leaves_a_choice();
    unsafe += !found.unsafe.empty();
    safe += ends;
  }
  std::printf("%u programs: %d unsafe, %d end where nothing is buffered, %d leave a choice\n", kSeeds, unsafe,
              safe, choices);
  EXPECT_GT(static_cast<uint32_t>(unsafe), kSeeds / 10);
  EXPECT_GT(static_cast<uint32_t>(safe), kSeeds / 4);
}

}  // namespace
}  // namespace rankfault::testing
