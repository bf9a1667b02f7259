// flight_recorder_bench: measures how fast Flight Recorder dumps are read, in MB/s, and with how much memory.
//
// Target: pickles at 300 MB/s or more on one core, with memory independent of the number of entries.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>

#include "harness/flight_recorder/json_dump.h"
#include "harness/flight_recorder/pickle.h"
#include "harness/flight_recorder/pickle_scan.h"
#include "harness/flight_recorder/write_dump.h"

namespace rankfault {
namespace {

// A dump like that of a training job: few groups and call sites, entries with or without stacks of 30 frames.
FrDump job(int entries, bool stacks) {
  FrDump dump;
  dump.rank = 0;
  dump.groups = {{"0", "0", "default_pg", {0, 1, 2, 3}}, {"1", "1", "dp", {0, 2}}};
  std::vector<std::shared_ptr<const FrStack>> sites;
  for (int s = 0; s < 20; ++s) {
    auto stack = std::make_shared<FrStack>();
    for (int f = 0; f < 30; ++f)
      stack->push_back(std::make_shared<const FrFrame>(
          FrFrame{"forward_" + std::to_string(s), "/usr/lib/python3/torch/nn/modules/module.py", 100 + f}));
    sites.push_back(stack);
  }
  for (int i = 0; i < entries; ++i) {
    FrEntry e;
    e.record_id = i;
    e.pg_id = i % 2;
    e.group = {std::to_string(i % 2), i % 2 ? "dp" : "default_pg"};
    e.collective_seq_id = i / 2;
    e.p2p_seq_id = 0;
    e.op_id = i / 2;
    e.profiling_name = i % 3 ? "nccl:all_reduce" : "nccl:_reduce_scatter_base";
    e.time_created_ns = 1'758'580'155'793'872'443 + int64_t{i} * 1'000'003;
    e.input_sizes = {{2048, 1, 5120 + i % 100}};
    e.input_dtypes = {"BFloat16"};
    e.output_sizes = {{2048, 1, 5120}};
    e.output_dtypes = {"BFloat16"};
    e.state = FrState::kCompleted;
    e.time_discovered_started_ns = e.time_created_ns + 10'000;
    e.time_discovered_completed_ns = e.time_created_ns + 20'000;
    e.retired = true;
    e.timeout_ms = 600'000;
    e.thread_name = "pt_main_thread";
    e.thread_id = "140018745985920";
    if (stacks) e.frames = sites[static_cast<size_t>(i) % sites.size()];
    dump.entries.push_back(std::move(e));
  }
  return dump;
}

using Reader = Result<FrDump> (*)(ByteSource&, const FrLimits&, const FrSink&);

void read(benchmark::State& state, const std::string& bytes, Reader reader, bool keep) {
  uint64_t entries = 0;
  const FrSink sink = [&](FrEntry& e) -> Status {
    benchmark::DoNotOptimize(e.record_id);
    return Done{};
  };
  for (auto _ : state) {
    const auto source = memory_source(bytes);
    const Result<FrDump> dump = reader(*source, {}, keep ? FrSink{} : sink);
    if (!dump) return state.SkipWithError(dump.error().message.c_str());
    entries = dump->entry_count;
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
  state.counters["MB"] = static_cast<double>(bytes.size()) / 1e6;
  state.counters["entries"] = static_cast<double>(entries);
}

void Pickle(benchmark::State& state) {
  read(state, dump_to_pickle(job(static_cast<int>(state.range(0)), state.range(1) != 0)), read_pickle, false);
}
BENCHMARK(Pickle)->Args({200'000, 0})->Args({200'000, 1})->Unit(benchmark::kMillisecond);

void PickleKept(benchmark::State& state) {
  read(state, dump_to_pickle(job(2000, state.range(0) != 0)), read_pickle, true);
}
BENCHMARK(PickleKept)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void Scan(benchmark::State& state) {
  const std::string bytes = dump_to_pickle(job(200'000, state.range(0) != 0));
  for (auto _ : state) {
    const auto source = memory_source(bytes);
    if (!scan_pickle(*source, {})) return state.SkipWithError("refused");
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(Scan)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void JsonText(benchmark::State& state) {
  read(state, dump_to_json(job(100'000, false)), read_json_dump, false);
}
BENCHMARK(JsonText)->Unit(benchmark::kMillisecond);

// A generator makes the bytes, so that the process holds only the reader. The peak must not depend on the
// size.
class EndlessSource : public ByteSource {
 public:
  explicit EndlessSource(int copies) : copies_(copies) {
    const std::string one = dump_to_pickle(job(1000, true));
    const std::string two = dump_to_pickle(job(2000, true));
    head_ = one.substr(0, one.size() - 3);  // before "e", "u", STOP; it has all shared objects
    body_ = two.substr(head_.size(), two.size() - 3 - head_.size());
    tail_ = two.substr(two.size() - 3);
  }
  Result<size_t> read(char* to, size_t bytes) override {
    const std::string& part = at_ == 0 ? head_ : at_ <= copies_ ? body_ : tail_;
    if (at_ > copies_ + 1) return size_t{0};
    const size_t count = part.copy(to, bytes, in_);
    in_ += count;
    if (in_ == part.size()) ++at_, in_ = 0;
    return count;
  }
  Status rewind() override {
    at_ = 0;
    in_ = 0;
    return Done{};
  }
  uint64_t size() const {
    return head_.size() + static_cast<uint64_t>(copies_) * body_.size() + tail_.size();
  }

 private:
  int copies_, at_ = 0;
  size_t in_ = 0;
  std::string head_, body_, tail_;
};

void PeakMemory(benchmark::State& state) {
  EndlessSource source(static_cast<int>(state.range(0)));
  const FrSink sink = [](FrEntry&) -> Status { return Done{}; };
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  uint64_t entries = 0;
  for (auto _ : state) {
    const Result<FrDump> dump = read_pickle(source, {}, sink);
    if (!dump) return state.SkipWithError(dump.error().message.c_str());
    entries = dump->entry_count;
  }
  getrusage(RUSAGE_SELF, &after);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * source.size()));
  state.counters["entries"] = static_cast<double>(entries);
  state.counters["peak_growth_KiB"] = static_cast<double>(after.ru_maxrss - before.ru_maxrss);
}
// Run it first, with --benchmark_filter=PeakMemory: the peak of a process never falls.
BENCHMARK(PeakMemory)->Arg(100)->Arg(2000)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace rankfault

BENCHMARK_MAIN();
