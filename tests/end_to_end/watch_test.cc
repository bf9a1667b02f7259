// watch_test: `watch` and `inspect` on real jobs that hang, and on healthy ones: plain MPI under mpirun (Open
// MPI 4 and 5, MPICH 5), PyTorch under torchrun, a Gloo program that rankfault itself starts.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "harness/base/process_tree.h"
#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using What = const char*;  // an MPI by its name (mpirun_of), or "Torch"

// Returns false, and fails the test, if the state does not come. The limit is far above any expected time.
bool wait_until(const std::function<bool()>& so) {
  const std::time_t end = std::time(nullptr) + 120;
  while (!so()) {
    if (std::time(nullptr) > end) {
      ADD_FAILURE() << "what was waited for did not come to be within two minutes";
      return false;
    }
    const timespec moment{0, 20'000'000};
    ::nanosleep(&moment, nullptr);
  }
  return true;
}

bool is_gone(int pid) {
  const auto stat = proc_stat(pid);
  return !stat || stat->state == 'Z';
}

class HungJob : public testing::TestWithParam<What> {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"}) {
      ::setenv(name, "1", 1);
      ::setenv((std::string(name) + "_CONFIRM").c_str(), "1", 1);
    }
    ::setenv("OMP_NUM_THREADS", "1", 1);
    if (is_torch() && python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
    if (!is_torch() && !have_program(mpirun_of(what()))) GTEST_SKIP() << "no " << what();
  }
  std::string what() const { return GetParam(); }
  bool is_torch() const { return what() == "Torch"; }

  // The command as a user types it: three ranks, of which rank 1 never comes to the barrier.
  std::vector<std::string> job(const std::string& how) const {
    const std::string program = mpi_programs_of(what()) + "/mpi_hang";
    if (what() == "OpenMpi4")
      return {"mpirun", "--oversubscribe", "-np", "3", "--mca", "btl", "self,vader", program, "--how=" + how};
    if (what() == "OpenMpi5")
      return {mpirun_of(what()), "--map-by", ":OVERSUBSCRIBE", "-np", "3", program, "--how=" + how};
    if (!is_torch()) return {mpirun_of(what()), "-n", "3", program, "--how=" + how};
    std::vector<std::string> words = torchrun();
    words.insert(words.end(),
                 {"--nproc_per_node=3", source_dir() + "/tests/ranks/torch/hang.py", "--how", how});
    return words;
  }

  // What the absent rank does; with Open MPI 5 it computes without end.
  std::string absent() const { return what() == "OpenMpi5" ? "spin" : "sleep"; }

  std::vector<std::string> watch(const std::vector<std::string>& options, const std::string& how) const {
    std::vector<std::string> args{"watch", "--run-dir", scratch_.file("run")};
    args.insert(args.end(), options.begin(), options.end());
    args.push_back("--");
    for (const std::string& word : job(how)) args.push_back(word);
    return args;
  }

  Json evidence_of(int rank) const {
    return Json::parse(read_file(scratch_.file("run/evidence/rank-" + std::to_string(rank) + ".json")),
                       nullptr, false);
  }

  Scratch scratch_;
};

std::string functions_in(const Json& evidence) {
  std::string all;
  for (const Json& thread : evidence["threads"])
    for (const Json& frame : thread["frames"]) all += frame["function"].get<std::string>() + " ";
  return all;
}

TEST_P(HungJob, WatchNamesTheRankThatDoesNotComeAndTakesTheStacks) {
  const ToolRun tool = run_tool(watch({"--end-on-finding", "--after", "1s", "--hung-after", "2s"}, "sleep"));
  EXPECT_EQ(tool.status, 1) << tool.output;
  const auto findings = findings_of(scratch_.file("run"));
  ASSERT_FALSE(findings.empty()) << tool.output;
  EXPECT_THAT(findings[0]["ranks"].get<std::vector<int>>(), ElementsAre(1)) << tool.output;
  EXPECT_EQ(findings[0]["confidence"], "inferred");
  EXPECT_EQ(findings[0]["kind"], "stuck_outside") << "a slow rank does not end the job";
  EXPECT_THAT(tool.output, HasSubstr("rank 1"));
  for (const int rank : {0, 2}) {
    ASSERT_TRUE(evidence_of(rank).is_object()) << tool.output;
    EXPECT_THAT(functions_in(evidence_of(rank)), HasSubstr(is_torch() ? "gloo::barrier" : "MPI_Barrier"));
  }
  ASSERT_TRUE(evidence_of(1).is_object());
  EXPECT_THAT(functions_in(evidence_of(1)), Not(HasSubstr("MPI_Barrier")));
  const bool torch = is_torch();
  EXPECT_THAT(evidence_of(1).dump(), HasSubstr(torch ? "hang.py" : "mpi_hang.c:"));
  EXPECT_TRUE(processes_of_run(scratch_.file("run")).empty());
  const ToolRun again = run_tool({"diagnose", scratch_.file("run")});
  EXPECT_EQ(again.status, 1);
  if (!torch) {
    EXPECT_THAT(again.output, HasSubstr(" at mpi_hang.c:")) << "where the others wait";
  }
  EXPECT_THAT(run_tool({"report", scratch_.file("run")}).output, HasSubstr("rank 1"));
}

TEST_P(HungJob, WatchLeavesAHungJobAloneUntilCtrlC) {
  const int pid = start_tool(watch({"--after", "1s"}, absent()), scratch_.file("output"));
  ASSERT_GT(pid, 0);
  const std::string last = scratch_.file("run/evidence/rank-2.json");
  wait_until([&] { return std::filesystem::exists(last) || is_gone(pid); });
  EXPECT_GE(processes_of_run(scratch_.file("run")).size(), 3u) << read_file(scratch_.file("output"));
  ::kill(pid, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 130) << read_file(scratch_.file("output"));
  EXPECT_THAT(read_file(scratch_.file("output")), HasSubstr("rankfault ended the job"));
  EXPECT_TRUE(processes_of_run(scratch_.file("run")).empty());
}

TEST_P(HungJob, WatchOfAHealthyJobFindsNothing) {
  const ToolRun tool = run_tool(watch({}, "none"));
  EXPECT_EQ(tool.status, 0) << tool.output;
  EXPECT_THAT(tool.output, HasSubstr("the job ended: exit 0"));
  EXPECT_THAT(tool.output, HasSubstr("none: nothing was found wrong"));
}

class HungFortranJob : public HungJob {};

// With the old and the new module: which ranks came to which call, the lines of both, and that the job
// stands.
TEST_P(HungFortranJob, WatchProvesWhichCallIsAnotherOne) {
  for (const std::string module : {"F77", "F08"}) {
    const std::string program = mpi_programs_of(what()) + "/fortran_hang_" + module;
    if (!std::filesystem::exists(program)) GTEST_SKIP() << "this MPI has no Fortran compiler here";
    const std::string run = scratch_.file(module);
    std::vector<std::string> args{"watch",        "--run-dir", run,  "--end-on-finding",
                                  "--hung-after", "2s",        "--", mpirun_of(what())};
    if (what() == "OpenMpi4") args.push_back("--oversubscribe");
    for (const std::string& word : {std::string("-n"), std::string("3"), program}) args.push_back(word);
    const ToolRun tool = run_tool(args);
    EXPECT_EQ(tool.status, 1) << tool.output;
    const auto findings = findings_of(run);
    const auto proven = std::find_if(findings.begin(), findings.end(),
                                     [](const Json& f) { return f["kind"] == "call_mismatch"; });
    ASSERT_NE(proven, findings.end()) << tool.output;
    EXPECT_EQ((*proven)["confidence"], "proven") << tool.output;
    EXPECT_THAT((*proven)["ranks"].get<std::vector<int>>(), ElementsAre(1)) << tool.output;
    EXPECT_EQ(findings.back()["kind"], "wedged") << "and so the job stands: " << tool.output;
    EXPECT_THAT(tool.output, Not(HasSubstr("withdrawn")));
    const std::string told = run_tool({"diagnose", run}).output;
    EXPECT_THAT(told, HasSubstr("fortran_hang.F90:19")) << "rank 1's all-reduce";
    EXPECT_THAT(told, HasSubstr("fortran_hang.F90:21")) << "the others' barrier";
  }
}

class SlowMpiJob : public HungJob {};

// The tool reports the rank as slow meanwhile, and lets the job continue.
TEST_P(SlowMpiJob, WatchFindsNothing) {
  std::vector<std::string> args = watch({"--after", "500ms", "--end-on-finding"}, "sleep");
  args.push_back("--seconds=2");
  const ToolRun tool = run_tool(args);
  EXPECT_EQ(tool.status, 0) << tool.output;
}

// The files in /dev/shm that a process maps.
std::set<std::string> mapped_segments(int pid) {
  std::set<std::string> paths;
  std::istringstream maps(read_file("/proc/" + std::to_string(pid) + "/maps"));
  for (std::string line; std::getline(maps, line);)
    if (const size_t at = line.find("/dev/shm/"); at != std::string::npos)
      paths.insert(line.substr(at, line.find(" (deleted)") - at));
  return paths;
}

// A job that starts without rankfault and ends with the object. A launcher that is killed leaves files in its
// TMPDIR.
class ForeignJob {
 public:
  ForeignJob(const std::vector<std::string>& words, const std::string& tmpdir) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setenv("TMPDIR", tmpdir.c_str(), 1);
    ::setpgid(0, 0);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    (void)!std::freopen("/dev/null", "w", stdout);
    (void)!std::freopen("/dev/null", "w", stderr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ~ForeignJob() {
    const std::set<int> all = descendants_of(pid_);
    std::set<std::string> segments;  // hydra does not remove the segments of its ranks
    for (const int pid : all) segments.merge(mapped_segments(pid));
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    for (const int pid : all) ::kill(pid, SIGKILL);
    for (const int pid : all) wait_until([pid] { return is_gone(pid); });
    for (const std::string& segment : segments) ::unlink(segment.c_str());
  }
  ForeignJob(const ForeignJob&) = delete;
  ForeignJob& operator=(const ForeignJob&) = delete;
  int pid() const { return pid_; }

 private:
  int pid_;
};

TEST_P(HungJob, InspectNamesTheRankOutsideOfTheCall) {
  const ForeignJob foreign(job(absent()), scratch_.path());
  const std::string option = is_torch() ? "--torchrun" : "--mpirun";
  const std::vector<std::string> args{"inspect",  option,  std::to_string(foreign.pid()),
                                      "--during", "200ms", "--json"};
  // Until the job hangs, `inspect` reports no finding.
  ToolRun tool;
  ASSERT_TRUE(wait_until([&] {
    tool = run_tool(args);
    return tool.status == 1;
  }));
  const Json found = Json::parse(tool.output, nullptr, false);
  ASSERT_TRUE(found.is_object()) << tool.output;
  ASSERT_EQ(found["evidence"].size(), 3u) << tool.output;
  for (const Json& finding : found["findings"]) EXPECT_EQ(finding["confidence"], "inferred");
  // Torch's ranks come one after the other. Until all are there, the last one is the odd one.
  wait_until([&] {
    const Json now = Json::parse(run_tool(args).output, nullptr, false);
    return now.is_object() && now["findings"][0]["ranks"] == Json::array({1}) &&
           now["findings"][0]["op"] == "barrier" &&
           now["findings"][0]["kind"] == (what() == "OpenMpi5" ? "slow_rank" : "stuck_outside");
  });
  for (const int pid : descendants_of(foreign.pid())) EXPECT_NE(proc_stat(pid)->state, 'T');
}

std::string name_of(const testing::TestParamInfo<What>& job) { return job.param; }
// MPICH 4 and 5 have the same launcher and the same decoder.
INSTANTIATE_TEST_SUITE_P(Jobs, HungJob, testing::Values("OpenMpi4", "OpenMpi5", "Mpich5", "Torch"), name_of);
INSTANTIATE_TEST_SUITE_P(Jobs, SlowMpiJob, testing::Values("OpenMpi4", "OpenMpi5", "Mpich5"), name_of);
INSTANTIATE_TEST_SUITE_P(Jobs, HungFortranJob, testing::Values("OpenMpi4", "Mpich4"), name_of);

TEST(Watch, ALocalProgramThatFailsIsAFinding) {
  const Scratch scratch;
  const ToolRun tool =
      run_tool({"watch", "--ranks", "2", "--run-dir", scratch.file("run"), "--", "/bin/false"});
  EXPECT_NE(tool.status, 0) << tool.output;
  EXPECT_LT(tool.status, 3) << tool.output;
}

TEST(Watch, SaysWhatIsWrongAndStartsNothing) {
  const Scratch scratch;
  const std::string dir = scratch.file("run");
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"watch"},
           {"watch", "--"},
           {"watch", "--run-dir", dir, "--", "./program"},
           {"watch", "--run-dir", dir, "--ranks", "0", "--", "/bin/true"},
           {"watch", "--run-dir", dir, "--ranks", "2", "--", "/no/such/program"},
           {"watch", "--run-dir", dir, "--", "/no/such/mpirun", "-np", "2", "/bin/true"},
           {"watch", "--run-dir", dir, "--", "/no/such/torchrun", "train.py"},
           {"watch", "--run-dir", dir, "--after", "soon", "--ranks", "2", "--", "/bin/true"},
           {"watch", "--run-dir", dir, "--after", "0s", "--ranks", "2", "--", "/bin/true"},
           {"watch", "--run-dir", dir, "--hung-after", "0s", "--ranks", "2", "--", "/bin/true"},
           {"watch", "--run-dir", dir, "--after", "3s", "--hung-after", "2s", "--ranks", "2", "--",
            "/bin/true"}}) {
    const ToolRun tool = run_tool(args);
    EXPECT_EQ(tool.status, 64) << args.back() << tool.output;
    EXPECT_FALSE(std::filesystem::exists(dir)) << args.back();
  }
}

TEST(Inspect, SaysWhatIsWrong) {
  const std::string self = std::to_string(::getpid());
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"inspect"},
                                             {"inspect", "not-a-pid"},
                                             {"inspect", "-5"},
                                             {"inspect", "999999999"},
                                             {"inspect", "--torchrun", "999999999"},
                                             {"inspect", "--torchrun", self},
                                             {"inspect", self, "--mpirun", self},
                                             {"inspect", self, "--during", "0s"}}) {
    const ToolRun tool = run_tool(args);
    EXPECT_EQ(tool.status, 64) << args.back() << tool.output;
  }
  EXPECT_THAT(run_tool({"inspect", "--torchrun", self}).output, HasSubstr("is not torchrun"));
  EXPECT_THAT(run_tool({"inspect", "999999999"}).output, HasSubstr("process 999999999 does not exist"));
}

// Runs the tool as another user, from a place that this user can read.
TEST(Inspect, RefusesAnotherUsersProcess) {
  const Scratch scratch;
  std::string command = build_dir() + "/bin/rankfault inspect 1";
  if (::geteuid() == 0) {
    if (!have_program("setpriv")) GTEST_SKIP() << "no setpriv to become another user with";
    std::filesystem::copy(build_dir() + "/bin/rankfault", scratch.file("rankfault"));
    std::filesystem::permissions(scratch.path(), static_cast<std::filesystem::perms>(0755));
    command = "setpriv --reuid=65534 --regid=65534 --clear-groups " + scratch.file("rankfault") +
              " inspect " + std::to_string(::getpid());
  }
  const int status = std::system((command + " > " + scratch.file("output") + " 2>&1").c_str());
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 64);
  EXPECT_THAT(read_file(scratch.file("output")), HasSubstr("belongs to user 0"));
}

}  // namespace
}  // namespace rankfault::test
