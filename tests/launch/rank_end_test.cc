// RankEnd: every kind of status from every source.
#include "harness/base/rank_end.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_tree.h"
#include "harness/launch/rank_output.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using Kind = ExitStatus::Kind;
constexpr ExitStatus kZero{Kind::kCode, 0}, kThree{Kind::kCode, 3}, kKilled{Kind::kSignal, SIGKILL},
    kTerm{Kind::kSignal, SIGTERM}, kAbort{Kind::kSignal, SIGABRT};

TEST(ExitStatus, SaysItInWords) {
  EXPECT_EQ(kThree.to_string(), "exit 3");
  EXPECT_EQ(kKilled.to_string(), "SIGKILL");
  EXPECT_EQ(ExitStatus{}.to_string(), "status unknown");
  EXPECT_TRUE(kZero.zero());
  EXPECT_TRUE(kKilled.nonzero());
  EXPECT_FALSE(ExitStatus{}.nonzero());
}

TEST(LastLines, AreMaskedAsAWholeAndBeginWithAWholeLine) {
  Scratch scratch;
  const std::string file = scratch / "stderr";
  std::ofstream(file) << "one\nfailed with --token\nsesame\n";
  EXPECT_EQ(last_lines(file), (std::vector<std::string>{"one", "failed with --token", "***"}));
  std::ofstream(file) << "--token=" << std::string(40'000, 's') << "\nlast\n";
  EXPECT_EQ(last_lines(file), (std::vector<std::string>{"last"}));
  std::ofstream(file) << "x --token=" << std::string(300, 's') << " y\n";
  EXPECT_EQ(last_lines(file), (std::vector<std::string>{"x --token=*** y"}));
}

// A line without a prefix may be of any rank.
TEST(LastLines, OfALogThatRanksShareAreThoseWithTheRanksPrefix) {
  Scratch scratch;
  const std::string file = scratch / "launcher.a0.log";
  std::ofstream(file)
      << "Traceback (most recent call last):\n  File \"a.py\", line 5, in f\nValueError: whose?\n"
         "[rank1]: KeyError: mine\n";
  EXPECT_EQ(last_lines(file, 0), std::vector<std::string>{});
  EXPECT_EQ(last_lines(file, 1), std::vector<std::string>{"[rank1]: KeyError: mine"});
}

TEST(LastLines, ALongLineEndsBetweenTwoWords) {
  Scratch scratch;
  std::string line;
  while (line.size() < 300) line += "word ";
  std::ofstream(scratch / "stderr") << line << "\n";
  const std::vector<std::string> lines = last_lines(scratch / "stderr");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines.front().ends_with("word [...]")) << lines.front();
}

// What @record of torch.distributed.elastic writes (2.13).
TEST(ErrorFile, HasTheTraceback) {
  Scratch scratch;
  const std::string file = scratch / "error.json";
  std::ofstream(file) << R"({"message": {"message": "ValueError: no label", "extraInfo": {"py_callstack": )"
                         R"("Traceback (most recent call last):\n  File \"train.py\", line 7, in main\n)"
                         R"(ValueError: no label\n", "timestamp": "1"}}})";
  EXPECT_EQ(last_words("", file),
            (std::vector<std::string>{"ValueError: no label", "raised in main() at train.py:7"}));
}

TEST(ErrorFile, OfAnotherFormIsPassedOver) {
  Scratch scratch;
  const std::string file = scratch / "error.json";
  EXPECT_EQ(last_words("", file), std::vector<std::string>{}) << "there is none";
  for (const char* text : {"", "{", "[]", "7", R"({"message": "text"})", R"({"message": {"extraInfo": []}})",
                           R"({"message": {"extraInfo": {"py_callstack": 7}}})"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(last_words("", file), std::vector<std::string>{}) << text;
  }
}

// A service or a CI job leads its session and has no terminal. When it opens a rank's terminal, that must not
// become its own: the kernel ends the leader of a session when its terminal closes.
TEST(LastLines, OfATerminalAreReadWithoutTakingIt) {
  const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_TRUE(master.valid() && ::grantpt(master.get()) == 0 && ::unlockpt(master.get()) == 0);
  const std::string terminal = ::ptsname(master.get());
  const int pid = ::fork();
  if (pid == 0) {
    ::setsid();
    last_lines(terminal);
    ::_exit(::open("/dev/tty", O_RDONLY) < 0 ? 0 : 1);  // opens the terminal of the session
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0) << "the rank's terminal has become the leader's own";
}

TEST(BestOf, TakesWhoKnowsBest) {
  EndSources sources;
  EXPECT_EQ(best_of(sources).source, EndSource::kUnknown);
  sources.launcher = kThree;
  EXPECT_EQ(best_of(sources).source, EndSource::kLauncher);
  sources.own_record = kThree;
  EXPECT_EQ(best_of(sources).source, EndSource::kOwnRecord);
  sources.our_signal = kKilled;
  EXPECT_EQ(best_of(sources).source, EndSource::kOurSignal);
  sources.kernel = kKilled;
  EXPECT_EQ(best_of(sources).source, EndSource::kKernel);
  sources.waited = kKilled;
  EXPECT_EQ(best_of(sources).source, EndSource::kWaited);
}

TEST(BestOf, ASignalTheLauncherSawOvertakesAnExitThatHadBegun) {
  EndSources sources;
  sources.own_record = kZero;
  sources.launcher = kAbort;
  EXPECT_EQ(best_of(sources).status.to_string(), "SIGABRT");
  EXPECT_FALSE(contradict(sources));
}

TEST(BestOf, ACaughtSignalOfOursGivesWayToTheOwnRecord) {
  EndSources sources;
  sources.our_signal = kTerm;
  sources.own_record = kZero;
  EXPECT_EQ(best_of(sources).status.to_string(), "exit 0");
  EXPECT_FALSE(contradict(sources));
}

TEST(BestOf, ContradictionsAreSeen) {
  EndSources sources;
  sources.waited = kZero;
  EXPECT_FALSE(contradict(sources));
  sources.kernel = kThree;
  EXPECT_TRUE(contradict(sources));
  sources = {};
  sources.own_record = kThree;
  sources.kernel = kZero;
  EXPECT_TRUE(contradict(sources));
}

struct EndCase {
  const char* name;
  int status;  // negative: a signal
  const char* words;
};
class EveryEnd : public GuardianTest, public ::testing::WithParamInterface<EndCase> {};

// The test is not the parent of the process, so it learns of the end in the same way as the harness.
TEST_P(EveryEnd, IsTheSameFromTheGuardianAndFromTheKernel) {
  const GuardianEvent spawned = spawn({"gate", scratch_ / "go", std::to_string(GetParam().status)});
  Result<UniqueFd> process = open_process(spawned.pid, spawned.start);
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE(kernel_exit_status(process->get())) << "it lives";
  std::ofstream(scratch_ / "go") << "go";
  const auto end = end_of(spawned.pid);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->start, spawned.start);
  EXPECT_EQ(ExitStatus::from_wait_status(end->a).to_string(), GetParam().words);
  ::setenv("RANKFAULT_NO_PIDFD_INFO", "1", 1);
  EXPECT_FALSE(kernel_exit_status(process->get()));
  ::unsetenv("RANKFAULT_NO_PIDFD_INFO");
  const auto kernel = kernel_exit_status(process->get());
  if (!kernel) GTEST_SKIP() << "this kernel has no PIDFD_INFO_EXIT";
  EXPECT_EQ(kernel->to_string(), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(All, EveryEnd,
                         ::testing::Values(EndCase{"Zero", 0, "exit 0"}, EndCase{"Three", 3, "exit 3"},
                                           EndCase{"Highest", 255, "exit 255"},
                                           EndCase{"Killed", -9, "SIGKILL"}, EndCase{"Segv", -11, "SIGSEGV"},
                                           EndCase{"Abort", -6, "SIGABRT"}),
                         [](const auto& tested) { return tested.param.name; });

TEST(OpenProcess, RefusesAnotherStartTimeAndAGoneProcess) {
  EXPECT_FALSE(open_process(::getpid(), 1).ok());
  EXPECT_FALSE(open_process(1 << 30, 1).ok());
}

TEST(OwnRecordStatus, ReadsWhatTheProcessWrote) {
  Scratch scratch;
  const std::string path = scratch / "x.ring";
  rf_header header{};
  const auto write = [&] {
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<char*>(&header), sizeof header);
  };
  header.magic = RF_RING_MAGIC;
  header.abi_version = RF_ABI_VERSION;
  write();
  EXPECT_FALSE(own_exit(path));
  header.own_exit = RF_EXIT_UNDERSCORE;
  header.own_exit_status = 259;  // exit() truncates this number
  write();
  EXPECT_EQ(own_exit(path)->status.to_string(), "exit 3");
  header.abi_version = 999;
  write();
  EXPECT_FALSE(own_exit(path));
  EXPECT_FALSE(own_exit(scratch / "absent"));
}

// A launcher that hangs leaves children that it never reaps.
TEST(UnreapedExitStatus, IsReadFromAZombie) {
  for (const bool by_signal : {false, true}) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (by_signal) ::raise(SIGKILL);
      ::_exit(3);
    }
    EXPECT_TRUE(eventually([&] { return proc_stat(pid) && proc_stat(pid)->state == 'Z'; }));
    const uint64_t start = proc_stat(pid)->start;
    const auto status = unreaped_exit_status(pid, start);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->to_string(), by_signal ? "SIGKILL" : "exit 3");
    EXPECT_FALSE(unreaped_exit_status(pid, start + 1)) << "another process of that pid";
    ::waitpid(pid, nullptr, 0);
    EXPECT_FALSE(unreaped_exit_status(pid, start));
  }
  EXPECT_FALSE(unreaped_exit_status(::getpid(), proc_stat(::getpid())->start)) << "alive";
}

// The kernel shows a zombie with the code of a signal, although the process lives and is only stopped.
TEST(UnreapedExitStatus, IsNotTheStopSignalOfAProcessWhoseFirstThreadHasEnded) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::thread([] {
      for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);
  }
  EXPECT_TRUE(eventually([&] { return proc_stat(pid)->state == 'Z'; }));
  ::kill(pid, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return proc_stat(pid)->exit_code == SIGSTOP; }));
  EXPECT_FALSE(unreaped_exit_status(pid, proc_stat(pid)->start));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace rankfault::test
