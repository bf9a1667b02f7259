// SIGKILL of the tool at any moment leaves no process and no segment of the job.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "harness/base/capture.h"
#include "harness/base/process_tree.h"
#include "harness/launch/clean_run.h"
#include "harness/launch/gather.h"
#include "harness/launch/guardian/file_id.h"
#include "tests/launch/fixture.h"
#include "tests/support/mpirun_of.h"

namespace rankfault::test {
namespace {

using ::testing::IsEmpty;

struct Tree {
  const char* launcher;
  const char* mpi;  // "" : the launcher needs none
};
std::string name_of(const Tree& tree) { return *tree.mpi ? tree.mpi : tree.launcher; }
void PrintTo(const Tree& tree, std::ostream* out) { *out << name_of(tree); }

std::string torch_python() {
  for (std::string python :
       {std::getenv("RANKFAULT_PYTHON") ? std::getenv("RANKFAULT_PYTHON") : "", "python3"})
    if (!python.empty() && capture({python, "-c", "import importlib.metadata as m; m.version('torch')"}))
      return python;
  return "";
}

class ToolDeath : public ::testing::TestWithParam<Tree> {};

// In every tree the rank forks a daemon that leaves its session and its parents.
TEST_P(ToolDeath, EndsADaemonisedGrandchild) {
  const Tree& tree = GetParam();
  Scratch scratch;
  const std::string run = scratch / "run", out = scratch / "out", daemon_file = scratch / "daemon";
  std::map<std::string, std::string> env;
  std::vector<std::string> command{subject(), "daemon", daemon_file};
  if (std::string(tree.launcher) == "mpirun") {
    const std::string mpirun = mpirun_of(tree.mpi);
    if (!capture({mpirun, "--version"})) GTEST_SKIP() << mpirun << " is not there";
    env["TEST_MPIRUN"] = mpirun;
  }
  if (std::string(tree.launcher) == "torchrun") {
    env["RANKFAULT_PYTHON"] = torch_python();
    if (env["RANKFAULT_PYTHON"].empty()) GTEST_SKIP() << "no Python with torch";
    const std::string script = scratch / "daemon.py";
    std::ofstream(script) << fmt::format("import subprocess\nsubprocess.run(['{}', 'daemon', '{}'])\n",
                                         subject(), daemon_file);
    command = {script};
  }
  std::vector<std::string> args{run, tree.launcher, "1"};
  args.insert(args.end(), command.begin(), command.end());
  ToolProcess tool(args, env, out);
  ASSERT_TRUE(eventually([&] { return first_number(daemon_file) > 0; }))
      << read_text(run + "/logs/launcher.a0.log");
  const int daemon = first_number(daemon_file), guardian = first_number(out);
  ASSERT_TRUE(is_alive(daemon));
  const std::string tmp = (*read_json(run + "/state.json"))["tmp"];

  tool.kill();
  EXPECT_TRUE(eventually([&] { return !is_alive(guardian); }));
  EXPECT_FALSE(is_alive(daemon));
  EXPECT_THAT(processes_naming(run), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(tmp));
  EXPECT_EQ(run_state(run), RunState::kDead);
  EXPECT_EQ(read_text(run + "/logs/guardian.log"), "");
}

INSTANTIATE_TEST_SUITE_P(Launchers, ToolDeath,
                         ::testing::Values(Tree{"local", ""}, Tree{"command", ""}, Tree{"mpirun", "OpenMpi4"},
                                           Tree{"mpirun", "OpenMpi5"}, Tree{"mpirun", "Mpich5"},
                                           Tree{"torchrun", ""}),
                         [](const auto& tested) { return name_of(tested.param); });

bool guardian_is_over(const std::string& run) {
  const int fd = ::open((run + "/guardian.lock").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return true;
  const bool over = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  ::close(fd);
  return over;
}

TEST(ToolDeathAtAnyMoment, LeavesNoProcessAndNoSegment) {
  const unsigned seed = 20261121;
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(fmt::format("seed {} round {}", seed, round));
    Scratch scratch;
    const std::string run = scratch / "run", prefix = fmt::format("rftest-{}-any{}", ::getpid(), round);
    const int wait_us = static_cast<int>(random() % 60'000);
    {
      ToolProcess tool({run, "local", "2", subject(), "churn", prefix + ".{rank}"}, {}, scratch / "out");
      const Instant until = HostClock::now() + std::chrono::microseconds(wait_us);
      eventually([&] { return HostClock::now() >= until; });
      tool.kill();
    }
    // A guardian that was forked but has not locked the run yet has the run in its command line.
    ASSERT_TRUE(eventually([&] { return guardian_is_over(run) && processes_naming(run).empty(); }));
    EXPECT_THAT(shm_names(prefix), IsEmpty());
    if (!std::filesystem::exists(run + "/lock")) continue;
    const auto cleaned = clean_run(run);
    ASSERT_TRUE(cleaned.ok()) << cleaned.error().to_string();
    EXPECT_THAT(cleaned->failed, IsEmpty());
    EXPECT_EQ(cleaned->ended, 0);
    if (const auto state = read_json(run + "/state.json"); state.ok()) {
      EXPECT_FALSE(std::filesystem::exists((*state)["tmp"].get<std::string>()));
    }
  }
}

class CleanRun : public ::testing::Test {
 protected:
  ~CleanRun() override { (void)clean_run(run_); }  // also after a failed assertion
  // Makes a job whose tool and guardian are both gone. Returns the pid of its daemon.
  int orphan(const std::string& what, const std::string& arg) {
    ToolProcess tool({run_, "local", "1", subject(), what, arg}, {{"SUBJECT_READY", scratch_ / "ready"}},
                     scratch_ / "out");
    EXPECT_TRUE(eventually(
        [&] { return first_number(scratch_ / "ready") > 0 && first_number(scratch_ / "out") > 0; }));
    const int guardian = first_number(scratch_ / "out");
    const auto stat = proc_stat(guardian);
    EXPECT_TRUE(stat && stat->parent == tool.pid());
    ::kill(tool.pid(), SIGSTOP);  // so that neither sees the end of the other
    ::kill(guardian, SIGKILL);
    tool.kill();
    EXPECT_TRUE(eventually([&] { return !is_alive(guardian); }));
    return first_number(scratch_ / "ready");
  }
  Scratch scratch_;
  std::string run_ = scratch_ / "run";
};

TEST_F(CleanRun, FinishesWhatAKilledToolAndGuardianLeft) {
  const std::string name = fmt::format("rftest-{}-clean", ::getpid());
  const int pid = orphan("segment", "/" + name);
  ASSERT_TRUE(is_alive(pid));
  ASSERT_EQ(run_state(run_), RunState::kDead);
  const std::string tmp = (*read_json(run_ + "/state.json"))["tmp"];
  const auto report = clean_run(run_);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_THAT(report->failed, IsEmpty());
  EXPECT_EQ(report->ended, 1);
  EXPECT_FALSE(is_alive(pid));
  EXPECT_THAT(shm_names(name), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(tmp));

  const auto again = clean_run(run_);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->ended + again->undone, 0);
  EXPECT_THAT(again->failed, IsEmpty());
}

// The clock that stamps files lags behind: a file made at once may seem older than its run.
TEST_F(CleanRun, FindsASegmentThatSeemsOlderThanTheRun) {
  const std::string name = fmt::format("rftest-{}-early", ::getpid());
  orphan("segment", "/" + name);
  struct statx born {};
  ASSERT_EQ(::statx(AT_FDCWD, ("/dev/shm/" + name).c_str(), 0, STATX_BTIME, &born), 0);
  Json state = *read_json(run_ + "/state.json");
  state["began_realtime_ns"] = born.stx_btime.tv_sec * 1'000'000'000 + born.stx_btime.tv_nsec + 5'000'000;
  std::ofstream(run_ + "/state.json") << state.dump();
  const auto report = clean_run(run_);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_THAT(shm_names(name), IsEmpty());
  ::shm_unlink(("/" + name).c_str());
}

TEST_F(CleanRun, EndsAStoppedAndADaemonisedProcess) {
  orphan("daemon", scratch_ / "daemon");
  ASSERT_TRUE(eventually(
      [&] { return first_number(scratch_ / "daemon") > 0; }));  // written after the file of the rank
  const int daemon = first_number(scratch_ / "daemon");
  ASSERT_TRUE(is_alive(daemon));
  ::kill(daemon, SIGSTOP);
  const auto report = clean_run(run_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->ended, 2);
  EXPECT_FALSE(is_alive(daemon));
}

TEST_F(CleanRun, RefusesALiveRun) {
  Result<RunDir> run = RunDir::create(run_, "test");
  ASSERT_TRUE(run.ok());
  const auto report = clean_run(run_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(std::filesystem::exists(run->tmp()));
  ASSERT_TRUE(run->complete().ok());
  std::filesystem::remove(run->tmp());
}

TEST_F(CleanRun, HasNothingToDoForACompleteRun) {
  Result<RunDir> run = RunDir::create(run_, "test");
  ASSERT_TRUE(run.ok() && run->complete().ok());
  const auto report = clean_run(run_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->undone, 0);
  std::filesystem::remove(run->tmp());
}

TEST_F(CleanRun, RefusesADirectoryThatIsNoRun) { EXPECT_FALSE(clean_run(scratch_.path()).ok()); }

// The tool was killed while it made its TMPDIR: before the line in the undo list, or before it noted the
// inode.
TEST_F(CleanRun, RemovesATmpdirThatWasBeingMade) {
  for (const bool line_written : {false, true}) {
    const std::string path = run_ + (line_written ? ".b" : ".a");
    std::string tmp;
    {
      Result<RunDir> run = RunDir::create(path, "test");
      ASSERT_TRUE(run.ok());
      tmp = run->tmp();
      Json state = *read_json(run->file("state.json"));
      state["tmp_dev"] = state["tmp_ino"] = 0;
      ASSERT_TRUE(run->write_json("state.json", state).ok());
      if (!line_written) std::filesystem::remove(run->undo());
    }
    const auto report = clean_run(path);
    ASSERT_TRUE(report.ok());
    EXPECT_THAT(report->failed, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(tmp));
  }
}

TEST_F(CleanRun, LeavesAFileOfAnotherBoot) {
  std::string kept = scratch_ / "kept", tmp;
  std::ofstream(kept) << "x";
  {
    Result<RunDir> run = RunDir::create(run_, "test");
    ASSERT_TRUE(run.ok());
    tmp = run->tmp();
    struct statx st {};
    rf_file_at(kept.c_str(), &st);
    const rf_file_id id = rf_id_of_file(&st);
    std::ofstream(run->undo(), std::ios::app)
        << fmt::format("remove-file {} {} {} {}\n", id.dev, id.ino, id.born, kept);
    Json state = *read_json(run->file("state.json"));
    state["boot"] = "another";
    ASSERT_TRUE(run->write_json("state.json", state).ok());
  }
  ASSERT_TRUE(clean_run(run_).ok());
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_FALSE(std::filesystem::exists(tmp));
}

}  // namespace
}  // namespace rankfault::test
