// bench_agent: measures what the agent costs a rank: a recorded call, the start of a process, a fork.
// The program starts itself again under the preload, in a run directory of its own.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "harness/agent/core_table.h"
#include "harness/mark/mark.h"

namespace {

uint64_t now_ns() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return static_cast<uint64_t>(ts.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(ts.tv_nsec);
}

const rf_core_v1& core() {
  static const auto* table =
      static_cast<const rf_core_table_v1*>(dlsym(RTLD_DEFAULT, "rankfault_core_table_v1"));
  return *table->core;
}

uint32_t world() {
  static const uint32_t comm = [] {
    core().become_member(RF_LIB_MPI, 0, 2);
    rf_comm_info info{};
    info.id = info.handle = 1;
    info.size = 2;
    info.library = RF_LIB_MPI;
    return core().comm_add(&info);
  }();
  return comm;
}

void recorded_call(uint32_t comm) {
  rf_call call{};
  call.op = RF_OP_ALL_REDUCE;
  call.library = RF_LIB_MPI;
  call.comm = comm;
  call.count = 1;
  core().begin(&call);
  core().end(&call, 0);
}

double quantile(std::vector<double>& values, double q) {
  const auto at = values.begin() + static_cast<long>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void EnterAndExit(benchmark::State& state) {
  const uint32_t comm = world();
  for (auto _ : state) recorded_call(comm);
}
BENCHMARK(EnterAndExit);

// Times each call by itself, and subtracts the cost of a clock reading.
void EnterAndExitOneByOne(benchmark::State& state) {
  const uint32_t comm = world();
  std::vector<double> calls, nothing;
  for (auto _ : state) {
    const uint64_t a = now_ns();
    const uint64_t b = now_ns();
    recorded_call(comm);
    const uint64_t c = now_ns();
    nothing.push_back(static_cast<double>(b - a));
    calls.push_back(static_cast<double>(c - b));
  }
  const double clock = quantile(nothing, 0.5);
  state.counters["p50_ns"] = quantile(calls, 0.5) - clock;
  state.counters["p99_ns"] = quantile(calls, 0.99) - clock;
}
BENCHMARK(EnterAndExitOneByOne)->Iterations(1'000'000);

void StepMark(benchmark::State& state) {
  int64_t step = 0;
  for (auto _ : state) rankfault_step_begin(step++);
}
BENCHMARK(StepMark);

std::string from_env(const char* name) {
  const char* const value = getenv(name);
  return value ? value : "";
}

double spawn_us(const std::vector<std::string>& settings) {
  std::vector<char*> envp;
  for (const auto& s : settings) envp.push_back(const_cast<char*>(s.c_str()));
  envp.push_back(nullptr);
  char name[] = "/bin/true";
  char* argv[] = {name, nullptr};
  pid_t pid = -1;
  const uint64_t begin = now_ns();
  if (posix_spawn(&pid, name, nullptr, nullptr, argv, envp.data()) == 0) waitpid(pid, nullptr, 0);
  return static_cast<double>(now_ns() - begin) / 1000;
}

// Starts /bin/true with each preload in turns. The counters are medians, less the median without a preload.
void StartOfAProcess(benchmark::State& state) {
  const std::string preload = "LD_PRELOAD=" RF_AGENT,
                    run = "RANKFAULT_RUN_DIR=" + from_env("RANKFAULT_RUN_DIR");
  std::vector<double> bare, inert, no_rank, candidate, with_libc;
  for (auto _ : state) {
    bare.push_back(spawn_us({}));
    inert.push_back(spawn_us({preload}));
    no_rank.push_back(spawn_us({preload, run}));
    candidate.push_back(spawn_us({preload, run, "RANK=0"}));
    with_libc.push_back(spawn_us({preload + ":" RF_LIBC_MODULE, run, "RANK=0"}));
  }
  const double base = quantile(bare, 0.5);
  state.counters["bare_us"] = base;
  state.counters["inert_us"] = quantile(inert, 0.5) - base;
  state.counters["no_rank_us"] = quantile(no_rank, 0.5) - base;
  state.counters["candidate_us"] = quantile(candidate, 0.5) - base;
  state.counters["candidate_with_libc_us"] = quantile(with_libc, 0.5) - base;
}
BENCHMARK(StartOfAProcess)->Iterations(200)->Unit(benchmark::kMillisecond);

// The first call of a forked child: it opens a record of its own.
void FirstCallOfAForkedChild(benchmark::State& state) {
  world();
  std::vector<double> first;
  for (auto _ : state) {
    int ends[2];
    if (pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
      const uint64_t begin = now_ns();
      recorded_call(RF_NO_COMM);
      const uint64_t took = now_ns() - begin;
      if (write(ends[1], &took, sizeof(took)) != sizeof(took)) _exit(1);
      _exit(0);
    }
    uint64_t took = 0;
    if (read(ends[0], &took, sizeof(took)) == sizeof(took)) first.push_back(static_cast<double>(took) / 1000);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
  }
  state.counters["p50_us"] = quantile(first, 0.5);
}
BENCHMARK(FirstCallOfAForkedChild)->Iterations(200)->Unit(benchmark::kMillisecond);

// One thread asks. Another thread of this process, with a mapping of its own, answers at once.
rf_control* map_control() {
  const int fd = open(from_env("RANKFAULT_CONTROL").c_str(), O_RDWR | O_CLOEXEC);
  void* at = mmap(nullptr, sizeof(rf_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return static_cast<rf_control*>(at);
}

// One round over the slots; false when there was nothing to do.
bool serve(rf_control* page) {
  bool busy = false;
  for (rf_gate_slot& slot : page->slots) {
    const uint32_t state = RF_LOAD(&slot.state);
    if (state == RF_GATE_ASKED) {
      slot.answer = RF_ANSWER_RELEASE;
      RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_ANSWERED));
      syscall(SYS_futex, &slot.state, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    } else if (state == RF_GATE_DONE) {
      RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_FREE));
    } else {
      continue;
    }
    busy = true;
  }
  return busy;
}

void answer(rf_control* page, const bool* stop) {
  while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
    const uint32_t bell = RF_LOAD(&page->doorbell);
    const timespec bound{0, 10'000'000};
    if (!serve(page)) syscall(SYS_futex, &page->doorbell, FUTEX_WAIT, bell, &bound, nullptr, 0);
  }
}

void ParkRoundTrip(benchmark::State& state) {
  rf_control* page = map_control();
  bool stop = false;
  std::thread harness(answer, page, &stop);
  std::vector<double> parks;
  for (auto _ : state) {
    const uint64_t begin = now_ns();
    rf_call call{};
    call.op = RF_OP_BARRIER;
    call.comm = RF_NO_COMM;
    core().begin(&call);
    core().end(&call, 0);
    parks.push_back(static_cast<double>(now_ns() - begin) / 1000);
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
  harness.join();
  state.counters["p50_us"] = quantile(parks, 0.5);
  state.counters["p99_us"] = quantile(parks, 0.99);
}
BENCHMARK(ParkRoundTrip)->Iterations(500)->Unit(benchmark::kMicrosecond);

// Makes a page with one action that holds every barrier until it is released.
void make_control(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (ftruncate(fd, sizeof(rf_control)) != 0) std::abort();
  close(fd);
  setenv("RANKFAULT_CONTROL", path.c_str(), 1);
  rf_control* page = map_control();
  page->magic = RF_CONTROL_MAGIC;
  page->control_bytes = sizeof(rf_control);
  page->armed_count = 1;
  page->armed_ops[0] = uint64_t{1} << RF_OP_BARRIER;
  rf_armed& a = page->armed[0];
  a.verb = RF_VERB_OUTSIDE;
  a.rank = a.attempt = a.after = -1;
  a.op = RF_OP_BARRIER;
  a.ask = 1;
  a.step = -1;
  a.nth = 1;
  a.times = UINT64_MAX;
}

// Runs itself under the preload and removes what it left.
int run_under_agent(char** argv) {
  char folder[] = "/tmp/rfbench.XXXXXX";
  if (!mkdtemp(folder)) return 1;
  std::filesystem::create_directory(std::string(folder) + "/records");
  setenv("RANKFAULT_RUN_DIR", folder, 1);
  make_control(std::string(folder) + "/control");
  setenv("LD_PRELOAD", RF_AGENT, 1);
  pid_t pid = -1;
  int status = 1;
  if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv, environ) == 0) waitpid(pid, &status, 0);
  std::filesystem::remove_all(folder);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (!getenv("RANKFAULT_RUN_DIR")) return run_under_agent(argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
