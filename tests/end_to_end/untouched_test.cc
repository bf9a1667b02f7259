// untouched_test: a watched job has the same environment, input and files as without rankfault.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Environment = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

// Returns false, and fails the test, if the file does not appear within two minutes.
bool wait_for_file(const std::string& path) {
  const std::time_t end = std::time(nullptr) + 120;
  while (!fs::exists(path)) {
    if (std::time(nullptr) > end) {
      ADD_FAILURE() << path << " did not come within two minutes";
      return false;
    }
    ::usleep(10'000);
  }
  return true;
}

// Runs the words without a shell, which would set its own variables.
int run_without_tool(Words words) {
  const int pid = ::fork();
  if (pid == 0) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    for (std::FILE* stream : {stdin, stdout, stderr}) (void)!std::freopen("/dev/null", "r+", stream);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status;
}

Environment read_environment_file(const std::string& path) {
  Environment env;
  const std::string all = read_file(path);
  for (size_t at = 0; at < all.size();) {
    const std::string entry = all.c_str() + at;
    at += entry.size() + 1;
    env[entry.substr(0, entry.find('='))] = entry.substr(std::min(entry.find('=') + 1, entry.size()));
  }
  return env;
}

// Each rank copies its environment to FILE with the number of the rank appended.
class WatchedEnvironment : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"}) {
      ::setenv(name, "1", 1);
      ::setenv((std::string(name) + "_CONFIRM").c_str(), "1", 1);
    }
    ::unsetenv("OMP_NUM_THREADS");
    ::setenv("TMPDIR", scratch_.path().c_str(), 1);  // as a cluster sets it
    if (what() == "Torch" && python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
    if (what() != "Torch" && what() != "Local" && !have_program(mpirun_of(what())))
      GTEST_SKIP() << "no " << what();
  }
  void TearDown() override { ::unsetenv("TMPDIR"); }
  std::string what() const { return GetParam(); }

  Words job() const {
    const std::string rank = "${OMPI_COMM_WORLD_RANK-${PMI_RANK-$RANK}}";
    const Words program{"/bin/sh", "-c", "cat /proc/self/environ > \"$0." + rank + "\"",
                        scratch_.file("env")};
    Words words;
    if (what() == "OpenMpi4" || what() == "OpenMpi5" || what() == "Mpich5")
      words = {mpirun_of(what()), "-n", "2"};
    if (what() == "OpenMpi4") words.push_back("--oversubscribe");
    if (what() == "Torch") {
      words = torchrun();
      words.insert(words.end(), {"--nproc_per_node=2", "--no_python"});
    }
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  Environment without() const {
    if (what() == "Local") ::setenv("RANK", "1", 1);
    EXPECT_EQ(run_without_tool(job()), 0);
    if (what() == "Local") ::unsetenv("RANK");
    return read_environment_file(scratch_.file("env.1"));
  }
  Environment with() const {
    Words args{"watch", "--run-dir", scratch_.file("run")};
    if (what() == "Local") args.insert(args.end(), {"--ranks", "2"});
    args.push_back("--");
    for (const std::string& word : job()) args.push_back(word);
    output_ = run_tool(args).output;
    return read_environment_file(scratch_.file("env.1"));
  }
  // rankfault is the launcher, and gives each process its rank.
  bool is_the_launchers(const std::string& name) const {
    return what() == "Local" &&
           std::set<std::string>{"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"}.count(name);
  }

  Scratch scratch_;
  mutable std::string output_;
};

TEST_P(WatchedEnvironment, DiffersByTheAgentsNamesAlone) {
  // A value that differs between two runs without rankfault, such as a port, proves nothing.
  const Environment first = without(), second = without(), watched = with();
  ASSERT_FALSE(first.empty());
  ASSERT_FALSE(watched.empty()) << output_;
  std::set<std::string> names;
  for (const auto* env : {&first, &watched})
    for (const auto& [name, value] : *env) names.insert(name);
  for (const std::string& name : names) {
    if (name == "LD_PRELOAD" || name.ends_with("_FD") /* a number of hydra's own, by what else is open */ ||
        name.starts_with("RANKFAULT_") || is_the_launchers(name))
      continue;
    ASSERT_TRUE(watched.count(name)) << name << " is missing under watch";
    ASSERT_TRUE(first.count(name)) << name << " is there under watch alone: " << watched.at(name);
    if (second.count(name) && first.at(name) == second.at(name)) {
      EXPECT_EQ(watched.at(name), first.at(name)) << name;
    }
  }
  EXPECT_EQ(watched.count("LD_PRELOAD"), 1u);
  EXPECT_EQ(watched.at("TMPDIR"), scratch_.path());
}

INSTANTIATE_TEST_SUITE_P(Launchers, WatchedEnvironment,
                         testing::Values("Local", "OpenMpi4", "OpenMpi5", "Mpich5", "Torch"),
                         [](const auto& launcher) { return std::string(launcher.param); });

// tests/ranks/plain/plain_leaves under the tool.
class FilesOfAJob : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(scratch_.file("tmp")); }
  void TearDown() override {
    for (const std::string& path : all()) fs::remove(path);
  }
  std::string results() const { return "/tmp/" + stem_ + ".csv"; }
  std::string in_tmpdir() const { return scratch_.file("tmp/" + stem_ + ".bin"); }
  std::string in_shm() const { return "/dev/shm/" + stem_ + ".out"; }
  std::string segment() const { return "/dev/shm/" + stem_ + ".seg"; }
  std::string socket() const { return "/tmp/" + stem_ + ".sock"; }
  Words all() const { return {results(), in_tmpdir(), in_shm(), segment(), socket()}; }
  Words there() const {
    Words out;
    for (const std::string& path : all())
      if (fs::exists(fs::symlink_status(path))) out.push_back(path);
    return out;
  }
  // The job ends when the file "go" exists.
  Words command(const std::string& verb, const Words& options) const {
    Words args{verb, "--run-dir", scratch_.file("run"), "--ranks", "1"};
    args.insert(args.end(), options.begin(), options.end());
    for (const std::string& word : {std::string("--"), build_dir() + "/bin/plain_leaves", stem_,
                                    scratch_.file("ready"), scratch_.file("go")})
      args.push_back(word);
    return args;
  }
  ToolRun run_to_its_end(const std::string& verb, const Words& options) const {
    std::ofstream(scratch_.file("go")) << "end";
    return run_tool(command(verb, options), {{"TMPDIR", scratch_.file("tmp")}});
  }
  Json journal_line(const std::string& event) const {
    std::ifstream in(scratch_.file("run/journal.ndjson"));
    Json found;
    for (std::string line; std::getline(in, line);)
      if (const Json json = Json::parse(line, nullptr, false); json.is_object() && json["ev"] == event)
        found = json;
    return found;
  }
  std::string undo_list() const { return read_file(scratch_.file("run/undo")); }
  // Waits until the looks at the running job have seen all of them.
  void wait_until_listed() const {
    const std::time_t end = std::time(nullptr) + 120;
    while (std::time(nullptr) < end && (undo_list().find(stem_ + ".sock") == std::string::npos ||
                                        undo_list().find(stem_ + ".csv") == std::string::npos ||
                                        undo_list().find("remove-file") == std::string::npos))
      ::usleep(10'000);
  }

  Scratch scratch_;
  std::string stem_ = "rf-untouched-" + std::to_string(::getpid());
};

TEST_F(FilesOfAJob, AWatchedJobThatEndsByItselfKeepsAll) {
  const ToolRun tool = run_to_its_end("watch", {});
  EXPECT_THAT(tool.output, HasSubstr("the job ended: exit 0"));
  EXPECT_EQ(there(), all()) << tool.output;
}

TEST_F(FilesOfAJob, CtrlCTakesTheSegmentAndTheSocketAndNoFile) {
  ::setenv("TMPDIR", scratch_.file("tmp").c_str(), 1);
  const int pid = start_tool(command("watch", {}), scratch_.file("output"));
  ::unsetenv("TMPDIR");
  ASSERT_GT(pid, 0);
  ASSERT_TRUE(wait_for_file(scratch_.file("ready")));
  ::kill(pid, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 130) << read_file(scratch_.file("output"));
  EXPECT_EQ(there(), (Words{results(), in_tmpdir(), in_shm()})) << undo_list();
}

TEST_F(FilesOfAJob, ARunTellsOfAResultAndLeavesIt) {
  const int pid = start_tool(command("run", {"--expect", "left_nothing"}), scratch_.file("output"));
  ASSERT_GT(pid, 0);
  ASSERT_TRUE(wait_for_file(scratch_.file("ready")));
  wait_until_listed();
  std::ofstream(scratch_.file("go")) << "end";
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  const std::string output = read_file(scratch_.file("output"));
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1) << "left_nothing fails: " << output;
  EXPECT_EQ(there(), Words{results()}) << undo_list();
  EXPECT_THAT(output, HasSubstr("left behind, not removed: " + results()));
  EXPECT_THAT(output, Not(HasSubstr("left behind, not removed: " + segment())));
  EXPECT_EQ(result_of(scratch_.file("run"))["cleanup"]["left"], Json::array({results()}));
}

TEST_F(FilesOfAJob, ARunsTmpdirLiesInTheUsersAndGoes) {
  const ToolRun tool = run_to_its_end("run", {"--expect", "left_nothing"});
  const std::string first = journal_line("attempt_end").dump();
  EXPECT_THAT(read_file(scratch_.file("run/journal.ndjson")), HasSubstr(scratch_.file("tmp/rf."))) << first;
  EXPECT_TRUE(fs::is_empty(scratch_.file("tmp"))) << tool.output;
}

// The user presses Ctrl-C in the tool: mpirun removes its session folder, as it does without rankfault.
TEST(WatchedMpirun, CtrlCLeavesNoSessionFolder) {
  if (!have_program(mpirun_of("OpenMpi4"))) GTEST_SKIP() << "no Open MPI 4";
  const Scratch scratch;
  fs::create_directory(scratch.file("tmp"));
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
    ::setenv(name, "1", 1);
  ::setenv("TMPDIR", scratch.file("tmp").c_str(), 1);
  const int pid = start_tool({"watch", "--run-dir", scratch.file("run"), "--", mpirun_of("OpenMpi4"), "-n",
                              "1", "/bin/sh", "-c", "touch " + scratch.file("ready") + "; exec sleep 1000"},
                             scratch.file("output"));
  ::unsetenv("TMPDIR");
  ASSERT_TRUE(wait_for_file(scratch.file("ready")));
  EXPECT_FALSE(fs::is_empty(scratch.file("tmp"))) << "there is no session folder to look for";
  ::kill(pid, SIGINT);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(fs::is_empty(scratch.file("tmp")) ||
              fs::is_empty(fs::directory_iterator(scratch.file("tmp"))->path()))
      << read_file(scratch.file("output"));
}

TEST(Watched, AJobReadsTheInputThatTheToolWasGiven) {
  const Scratch scratch;
  (void)!std::system(("echo hello | " + build_dir() + "/bin/rankfault watch --run-dir " +
                      scratch.file("run") + " --ranks 1 -- /bin/cat > /dev/null 2>&1")
                         .c_str());
  EXPECT_EQ(read_file(scratch.file("run/logs/rank-0.a0.log")), "hello\n");
}

// Programs read RANK and WORLD_SIZE to find out whether a launcher started them.
TEST(Watched, AProgramThatStartsItsRanksKeepsItsEnvironment) {
  const Scratch scratch;
  run_tool({"watch", "--run-dir", scratch.file("run"), "--", "/usr/bin/env"},
           {{"TMPDIR", scratch.file("")}, {"COLOUR", "blue"}});
  std::istringstream lines(read_file(scratch.file("run/logs/launcher.a0.log")));
  bool is_blue = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find('='));
    is_blue = is_blue || line == "COLOUR=blue";
    if (name == "COLOUR" || name == "TMPDIR" || name == "LD_PRELOAD" || name.starts_with("RANKFAULT_"))
      continue;
    EXPECT_NE(::getenv(name.c_str()), nullptr) << line;
  }
  EXPECT_TRUE(is_blue);
}

TEST(Watched, BracesOfACommandAreTheUsers) {
  const Scratch scratch;
  run_tool(
      {"watch", "--run-dir", scratch.file("run"), "--ranks", "1", "--", "/bin/echo", "{rank} {tmp} {run}"});
  EXPECT_EQ(read_file(scratch.file("run/logs/rank-0.a0.log")), "{rank} {tmp} {run}\n");
}

TEST(Watched, VerboseListsWhatIsChanged) {
  const Scratch scratch;
  const ToolRun tool = run_tool(
      {"watch", "-v", "--run-dir", scratch.file("run"), "--ranks", "1", "--", "/bin/true", "--token", "XYZ"},
      {{"LD_PRELOAD", ""}});
  EXPECT_THAT(tool.output, HasSubstr("starts  /bin/true --token ***"));
  EXPECT_THAT(tool.output, HasSubstr("adds    RANKFAULT_RUN_DIR=" + scratch.file("run")));
  EXPECT_THAT(tool.output, HasSubstr("librankfault_agent.so"));
  EXPECT_THAT(tool.output, Not(HasSubstr("TMPDIR")));
}

}  // namespace
}  // namespace rankfault::test
