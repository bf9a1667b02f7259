// tool_killed_test: rankfault itself is killed at any moment, and nothing of the job may be left.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/end_to_end/jobs.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

template <typename Condition>
bool becomes_true(Condition condition, milliseconds bound) {
  const auto end = steady_clock::now() + bound;
  while (!condition()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

bool is_held(const std::string& segment) {
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error))
    if (read_file(process.path() / "maps").find("/dev/shm/" + segment) != std::string::npos) return true;
  return false;
}

// New segments that no process holds. The running job of a neighbour holds its own.
std::vector<std::string> left_segments(const std::vector<std::string>& before) {
  std::vector<std::string> left;
  for (const std::string& name : shm_names())
    if (std::find(before.begin(), before.end(), name) == before.end() && !is_held(name)) left.push_back(name);
  return left;
}

bool has_run_dir(const std::string& path) { return std::filesystem::exists(path + "/lock"); }

void kill_at_random_moments(const std::string& yaml, int times, milliseconds latest) {
  const unsigned seed = 20261121;
  std::mt19937 random(seed);
  const Scratch scratch;
  const std::string file = scratch.write("scenario.yaml", yaml);
  const auto shm_before = shm_names();
  for (int i = 0; i < times; ++i) {
    const std::string run_dir = scratch.file("run" + std::to_string(i));
    const int pid = start_tool({"run", file, "--run-dir", run_dir}, scratch.file("output"));
    ASSERT_GT(pid, 0);
    // A random time, not a wait for a state: the sleep is the random variable of the test.
    std::this_thread::sleep_for(
        milliseconds(std::uniform_int_distribution<int>(0, static_cast<int>(latest.count()))(random)));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    EXPECT_TRUE(becomes_true([&] { return processes_of_run(run_dir).empty(); }, milliseconds(10'000)))
        << "moment " << i << " of seed " << seed << " left processes";
    EXPECT_TRUE(becomes_true([&] { return left_segments(shm_before).empty(); }, milliseconds(10'000)))
        << "moment " << i << " of seed " << seed << " left a segment";
    if (!has_run_dir(run_dir)) continue;  // killed before it made one
    // Killed before a guardian existed: `clean` then removes the few things that were made.
    const ToolRun cleaned = run_tool({"clean", run_dir});
    EXPECT_EQ(cleaned.status, 0) << "moment " << i << " of seed " << seed << ": " << cleaned.output;
    const Json state = Json::parse(read_file(run_dir + "/state.json"), nullptr, false);
    EXPECT_FALSE(state.is_object() && std::filesystem::exists(state.value("tmp", "-"))) << state.dump();
  }
}

TEST(ToolKilled, LeavesNoProcessOfAGlooJob) {
  kill_at_random_moments(
      gloo_job({.fault = "{id: stop, kind: rank_stop, ranks: [1], for: 10s, at: {op: all_reduce, nth: 2}}",
                .expect = "  - ended: {ranks: all, exit: zero}\n"}),
      50, milliseconds(400));
}

// Its busy processes and its small file system belong to the run, and end with it.
TEST(ToolKilled, LeavesNoBusyProcessAndNoMount) {
  const Scratch scratch;
  const std::string run_dir = scratch.file("run");
  const std::string file = scratch.write(
      "scenario.yaml",
      gloo_job({.fault =
                    "{id: busy, kind: cpu_squeeze, ranks: [1], for: 20s, at: {op: all_reduce, nth: 2}}\n"
                    "  - {id: full, kind: disk_full, ranks: all, path: small}\n"
                    "  - {id: stop, kind: rank_stop, ranks: [0], for: 20s, at: {op: all_reduce, nth: 3}}",
                .expect = "  - finished\n"}));
  const int pid = start_tool({"run", file, "--run-dir", run_dir}, scratch.file("output"));
  ASSERT_GT(pid, 0);
  const auto busy = [&] {  // forked by the guardian, whose command line names the run
    int count = 0;
    for (const auto& process : std::filesystem::directory_iterator("/proc"))
      count += read_file(process.path() / "comm") == "rankfault-busy\n" &&
               read_file(process.path() / "cmdline").find(run_dir) != std::string::npos;
    return count;
  };
  if (!becomes_true([&] { return busy() > 0; }, milliseconds(30'000))) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    if (read_file(scratch.file("output")).find("is not permitted here") != std::string::npos)
      GTEST_SKIP() << "no right to mount";
    FAIL() << read_file(scratch.file("output"));
  }
  const std::string tmp = Json::parse(read_file(run_dir + "/state.json")).value("tmp", "-");
  EXPECT_TRUE(std::filesystem::exists(tmp + "/small"));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(becomes_true([&] { return processes_of_run(run_dir).empty(); }, milliseconds(10'000)));
  EXPECT_TRUE(becomes_true([&] { return busy() == 0; }, milliseconds(10'000)));
  EXPECT_TRUE(becomes_true([&] { return !std::filesystem::exists(tmp); }, milliseconds(10'000))) << tmp;
}

// A check is the user's own program, but still a process of the run.
TEST(ToolKilled, LeavesNoProcessOfACheck) {
  const Scratch scratch;
  const std::string pid_file = scratch.file("pid"), run_dir = scratch.file("run");
  const std::string words = "[sh, -c, 'echo $$ > " + pid_file + ".new; mv " + pid_file + ".new " + pid_file +
                            "; sleep 1000 & wait']";
  const std::string file =
      scratch.write("scenario.yaml", gloo_job({.expect = "  - check: {command: " + words + "}\n"}));
  const int pid = start_tool({"run", file, "--run-dir", run_dir}, scratch.file("output"));
  ASSERT_GT(pid, 0);
  ASSERT_TRUE(becomes_true([&] { return !read_file(pid_file).empty(); }, milliseconds(30'000)))
      << read_file(scratch.file("output"));
  const int check = std::stoi(read_file(pid_file));
  ASSERT_EQ(::kill(check, 0), 0);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(becomes_true([&] { return ::kill(check, 0) != 0; }, milliseconds(10'000)));
  EXPECT_TRUE(becomes_true([&] { return processes_of_run(run_dir).empty(); }, milliseconds(10'000)));
}

TEST(ToolKilled, LeavesNoProcessAndNoSegmentOfAnMpiJob) {
  if (!have_program("mpirun")) GTEST_SKIP() << "no mpirun";
  kill_at_random_moments(mpi_job({.args = ", \"--sleep-us=100000\""}), 10, milliseconds(1500));
}

}  // namespace
}  // namespace rankfault::test
