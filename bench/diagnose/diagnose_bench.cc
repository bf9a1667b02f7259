// diagnose_bench: measures the time from the last fact of a proof to the finding: one look at the records of
// 64 ranks, its way through the journal, and the diagnosis. It also measures each part alone.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "harness/diagnose/finding.h"
#include "harness/observe/observer.h"
#include "tests/observe/ring_file_writer.h"

namespace rankfault::testing {
namespace {

constexpr int kRanks = 64;
constexpr int kVictim = 43;

// A job whose ranks made `calls` calls each. One rank is dead and the others wait for it.
struct Job {
  explicit Job(int calls) {
    char name[] = "/tmp/rf-bench.XXXXXX";
    folder = ::mkdtemp(name);
    for (int r = 0; r < kRanks; ++r) {
      rings.push_back(
          std::make_unique<RingFileWriter>(folder, ProcessId{1, 2, 900'000'000 + r, 3, 0}, r, kRanks));
      rings.back()->add_comm(9, "world", kRanks, r);
      for (int i = 0; i < calls; ++i) {
        rings.back()->enter(0, RF_OP_ALL_REDUCE);
        rings.back()->leave(0);
      }
      if (r != kVictim) rings.back()->enter(0, RF_OP_ALL_REDUCE);
    }
    observer = make_observer({folder}, Instant(1ns));
    observer->scan();
    observer->drain();
    RankEnd end;
    end.process = {1, 2, 900'000'000 + kVictim, 3, 0};
    end.time = Instant(1s);
    end.status = {ExitStatus::Kind::kSignal, 9};
    observer->set_end(end);
  }
  ~Job() { std::filesystem::remove_all(folder); }
  std::string folder;
  std::vector<std::unique_ptr<RingFileWriter>> rings;
  std::unique_ptr<Observer> observer;
};

void LookToFinding(benchmark::State& state) {
  Job job(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const Findings found = diagnose(canonical(job.observer->look(false)));
    if (found.all.front().confidence != Confidence::kProven) state.SkipWithError("not proven");
  }
}
BENCHMARK(LookToFinding)->Arg(100)->Arg(1000)->Arg(2000)->Unit(benchmark::kMillisecond);

// The last look: the others failed and exited after the one that died.
void LookAfterAllEnded(benchmark::State& state) {
  Job job(static_cast<int>(state.range(0)));
  for (int r = 0; r < kRanks; ++r) {
    if (r == kVictim) continue;
    job.rings[static_cast<size_t>(r)]->leave(0, RF_RESULT_THROWN);
    RankEnd end;
    end.process = {1, 2, 900'000'000 + r, 3, 0};
    end.time = Instant(2s + Duration(r));
    end.status = {ExitStatus::Kind::kCode, 3};
    job.observer->set_end(end);
  }
  job.observer->drain();
  for (auto _ : state) {
    const Findings found = diagnose(canonical(job.observer->look(true)));
    if (found.all.size() != static_cast<size_t>(kRanks)) state.SkipWithError("not a finding for each rank");
  }
}
BENCHMARK(LookAfterAllEnded)->Arg(100)->Arg(2000)->Unit(benchmark::kMillisecond);

void Look(benchmark::State& state) {
  Job job(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(job.observer->look(false));
}
BENCHMARK(Look)->Arg(100)->Arg(2000)->Unit(benchmark::kMillisecond);

void Activity(benchmark::State& state) {
  Job job(100);
  for (auto _ : state) benchmark::DoNotOptimize(job.observer->activity());
}
BENCHMARK(Activity)->Unit(benchmark::kMicrosecond);

void LookToJson(benchmark::State& state) {
  Job job(100);
  const Timeline t = job.observer->look(false);
  for (auto _ : state) benchmark::DoNotOptimize(state_to_json(t).dump());
  state.counters["bytes"] = static_cast<double>(state_to_json(t).dump().size());
}
BENCHMARK(LookToJson)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rankfault::testing

BENCHMARK_MAIN();
