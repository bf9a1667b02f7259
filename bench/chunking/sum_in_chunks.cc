// sum_in_chunks: one rank of a job that sums the same float32 numbers whole and in chunks, in turns.
//
// usage: RANK=r WORLD_SIZE=n sum_in_chunks STORE COUNT UNIT ROUNDS
// Rank 0 prints one line per round: the seconds of the whole sum and of the sum in chunks, and its CPU
// seconds of both.
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "workloads/trainer/chunked_sum.h"
#include "workloads/trainer/collectives.h"
#include "workloads/trainer/world_sum.h"

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

// Returns the CPU time of all threads of this process.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Cost {
  double wall, cpu;
};

Cost cost_of(trainer::Collectives& world, trainer::WorldSum& sum, std::vector<float>& numbers) {
  world.barrier();
  const auto begun = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  sum.sum(numbers.data(), numbers.size());
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(),
          cpu_seconds() - cpu};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 64;
  const size_t count = std::strtoull(argv[2], nullptr, 10), unit = std::strtoull(argv[3], nullptr, 10);
  const int rounds = std::atoi(argv[4]), rank = number_in("RANK");
  const auto world = trainer::meet({rank, number_in("WORLD_SIZE"), argv[1], std::chrono::minutes(5)});
  const auto whole = trainer::flat_sum(*world);
  const auto chunked = trainer::chunked_sum(trainer::flat_sum(*world), unit);
  std::vector<float> numbers(count, 0.0f);  // zeros stay zeros, however often they are summed
  (void)cost_of(*world, *whole, numbers);   // first touch of every page, on both sides
  for (int round = 0; round < rounds; ++round) {
    // The two ways go first in turns, so that neither has the warmer caches.
    Cost costs[2];
    for (int i = 0; i < 2; ++i) {
      const int which = (round + i) % 2;
      costs[which] = cost_of(*world, which == 0 ? *whole : *chunked, numbers);
    }
    if (rank == 0)
      std::printf("%.4f %.4f %.4f %.4f\n", costs[0].wall, costs[1].wall, costs[0].cpu, costs[1].cpu);
  }
  return 0;
}
