// Guardian: starts, reaps, reports, ends.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_tree.h"
#include "harness/base/rank_end.h"
#include "tests/launch/fixture.h"

namespace rankfault::test {
namespace {

using Kind = GuardianEvent::Kind;

TEST_F(GuardianTest, KeepsWhatIsToldWhileACensusIsWaitedFor) {
  const std::string ready = scratch_ / "ready";
  ASSERT_TRUE(guardian_->spawn(7, command({"segment", "/" + unique_}, ready)).ok());
  ASSERT_TRUE(eventually([&] { return first_number(ready) > 0; }));  // it reported the start before this
  census();
  EXPECT_NE(undo_text().find("/dev/shm/" + unique_ + "\n"), std::string::npos) << "a census has been taken";
  const auto first = guardian_->next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, GuardianEvent::Kind::kSpawned);
  EXPECT_EQ(first->tag, 7u);
}

TEST_F(GuardianTest, TellsThePidAndStartTimeOfWhatItSpawned) {
  const GuardianEvent spawned = spawn_ready({"wait"});
  const auto stat = proc_stat(spawned.pid);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->start, spawned.start);
  EXPECT_EQ(stat->parent, guardian_->pid());
  EXPECT_TRUE(descends_from(spawned.pid, spawned.start, guardian_->pid()));
  EXPECT_FALSE(descends_from(spawned.pid, spawned.start + 1, guardian_->pid()));
  EXPECT_FALSE(descends_from(::getpid(), proc_stat(::getpid())->start, guardian_->pid()));
}

// Otherwise the job would wait for the guardian without end, and the tool for a minute.
TEST_F(GuardianTest, IsContinuedWhenSomebodyStoppedIt) {
  spawn_ready({"wait"});
  const int pid = guardian_->pid();
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] { return proc_stat(pid)->state == 'T'; }));
  const auto undone = guardian_->quit();
  ASSERT_TRUE(undone) << undone.error().to_string();
  EXPECT_TRUE(undone->failed.empty());
  EXPECT_EQ(guardian_->times_stopped(), 1);
}

TEST_F(GuardianTest, UndoesEverythingAlsoWhenTheRunDirectoryIsGone) {
  spawn_ready({"segment", "/" + unique_});
  census();
  std::filesystem::remove_all(run_->path());
  ASSERT_TRUE(guardian_->quit());
  EXPECT_TRUE(shm_names(unique_).empty());
  EXPECT_FALSE(std::filesystem::exists(run_->tmp()));
  guardian_.reset();
  run_.reset();  // nothing is left to clean
}

// More than fits in one packet.
TEST_F(GuardianTest, ReportsEveryLineThatCouldNotBeUndone) {
  constexpr size_t kLines = 5000;
  const std::string path(60, 'x');
  std::ofstream list(run_->undo(), std::ios::app);
  for (size_t i = 0; i < kLines; ++i) list << "unheard-of " << i << " " << path << "\n";
  list.close();
  const auto undone = guardian_->quit();
  ASSERT_TRUE(undone) << undone.error().to_string();
  ASSERT_EQ(undone->failed.size(), kLines);
  std::set<std::string> all(undone->failed.begin(), undone->failed.end());
  EXPECT_EQ(all.size(), kLines);
  for (const std::string& line : all) EXPECT_TRUE(line.ends_with(path)) << line;
}

TEST_F(GuardianTest, RefusesAMissingProgramWithItsErrno) {
  Command missing = command({});
  missing.argv[0] = "/no/such/program";
  ASSERT_TRUE(guardian_->spawn(7, missing).ok());
  const auto refused = wait_for(Kind::kRefused);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->a, ENOENT);
  EXPECT_EQ(refused->tag, 7u);
  EXPECT_EQ(refused->text, "start /no/such/program");
}

TEST_F(GuardianTest, RefusesAProgramWithoutTheRightToExecuteIt) {
  const std::string path = scratch_ / "text";
  std::ofstream(path) << "no program\n";
  Command command = this->command({});
  command.argv[0] = path;
  ASSERT_TRUE(guardian_->spawn(1, command).ok());
  EXPECT_EQ(wait_for(Kind::kRefused).value_or(GuardianEvent{}).a, EACCES);
}

TEST_F(GuardianTest, RefusesAMissingWorkingDirectory) {
  Command command = this->command({"exit", "0"});
  command.cwd = "/no/such/folder";
  ASSERT_TRUE(guardian_->spawn(1, command).ok());
  const auto refused = wait_for(Kind::kRefused).value_or(GuardianEvent{});
  EXPECT_EQ(refused.a, ENOENT);
  EXPECT_EQ(refused.text, "enter /no/such/folder");
}

TEST_F(GuardianTest, GivesEachProgramItsOwnEnvironmentAndFiles) {
  Command command = this->command({"env", "COLOUR"});
  command.env["COLOUR"] = "blue";
  command.stdout_path = scratch_ / "out";
  ASSERT_TRUE(guardian_->spawn(1, command).ok());
  const auto spawned = wait_for(Kind::kSpawned);
  ASSERT_TRUE(spawned && end_of(spawned->pid));
  std::ifstream out(scratch_ / "out");
  std::string line;
  std::getline(out, line);
  EXPECT_EQ(line, "blue");
}

TEST_F(GuardianTest, ReportsTheEndOfADaemonThatNobodyWaitsFor) {
  spawn_ready({"daemon", scratch_ / "daemon"});
  const std::string path = scratch_ / "daemon";
  ASSERT_TRUE(eventually([&] { return first_number(path) > 0; }));
  const int daemon = first_number(path);
  ASSERT_TRUE(guardian_->kill_all(0, Duration(0)).ok());
  const auto end = end_of(daemon);
  ASSERT_TRUE(end);
  EXPECT_EQ(ExitStatus::from_wait_status(end->a).to_string(), "SIGKILL");
  EXPECT_EQ(end->tag, 0u);
  EXPECT_GE(wait_for(Kind::kAllGone).value_or(GuardianEvent{}).a, 2);
}

TEST_F(GuardianTest, KillOfNothingIsOverAtOnce) {
  ASSERT_TRUE(guardian_->kill_all(SIGTERM, std::chrono::seconds(20)).ok());
  const auto gone = wait_for(Kind::kAllGone);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->a, 0);
}

TEST_F(GuardianTest, SendsTheFirstSignalBeforeItKills) {
  const int polite = spawn_ready({"polite"}).pid, deaf = spawn_ready({"ignore_term"}).pid;
  ASSERT_TRUE(guardian_->kill_all(SIGTERM, std::chrono::milliseconds(300)).ok());
  EXPECT_EQ(ExitStatus::from_wait_status(end_of(polite)->a).to_string(), "exit 42");
  EXPECT_EQ(ExitStatus::from_wait_status(end_of(deaf)->a).to_string(), "SIGKILL");
  EXPECT_TRUE(wait_for(Kind::kAllGone));
}

TEST_F(GuardianTest, AStoppedProcessHearsTheFirstSignal) {
  const int stopped = spawn_ready({"stopped"}).pid;
  ASSERT_TRUE(eventually([&] { return proc_stat(stopped)->state == 'T'; }));
  ASSERT_TRUE(guardian_->kill_all(SIGTERM, std::chrono::seconds(20)).ok());
  EXPECT_EQ(ExitStatus::from_wait_status(end_of(stopped)->a).to_string(), "exit 42");
}

TEST_F(GuardianTest, EndsAChainThatForksAsFastAsItCan) {
  spawn({"chain", scratch_ / "chain"});
  const std::string path = scratch_ / "chain";
  ASSERT_TRUE(eventually([&] { return first_number(path) > 0; }));
  ASSERT_TRUE(guardian_->kill_all(0, Duration(0)).ok());
  EXPECT_TRUE(wait_for(Kind::kAllGone));
  EXPECT_TRUE(descendants_of(guardian_->pid()).empty());
}

TEST_F(GuardianTest, SurvivesTheSignalsOfATerminal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::kill(guardian_->pid(), signal);
  EXPECT_TRUE(end_of(spawn({"exit", "0"}).pid));
}

TEST_F(GuardianTest, BusyProcessesHaveTheCoresOfTheirVictimUntilTheyAreEnded) {
  const int victim = spawn_ready({"wait"}).pid;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (::sched_setaffinity(victim, sizeof one, &one) != 0) GTEST_SKIP() << "core 0 is not ours";
  ASSERT_TRUE(guardian_->load(1, victim, 2).ok());
  ASSERT_TRUE(guardian_->load(2, victim, 1).ok());
  EXPECT_EQ(wait_for(Kind::kLoaded).value_or(GuardianEvent{}).a, 2);
  EXPECT_EQ(wait_for(Kind::kLoaded).value_or(GuardianEvent{}).a, 3);
  std::set<int> busy = descendants_of(guardian_->pid());
  busy.erase(victim);
  EXPECT_EQ(busy.size(), 3u);
  for (const int pid : busy)
    EXPECT_TRUE(eventually([&] {
      cpu_set_t cores;
      return ::sched_getaffinity(pid, sizeof cores, &cores) == 0 && CPU_EQUAL(&cores, &one);
    }));
  ASSERT_TRUE(guardian_->load(1, victim, 0).ok());
  EXPECT_EQ(wait_for(Kind::kLoaded).value_or(GuardianEvent{}).a, 1);
  ASSERT_TRUE(guardian_->unload().ok());
  EXPECT_EQ(descendants_of(guardian_->pid()), std::set<int>{victim});
}

TEST_F(GuardianTest, BusyProcessesEndWithAKilledGuardian) {
  const int victim = spawn_ready({"wait"}).pid;
  ASSERT_TRUE(guardian_->load(1, victim, 1).ok());
  ASSERT_GT(wait_for(Kind::kLoaded).value_or(GuardianEvent{}).a, 0);
  std::set<int> busy = descendants_of(guardian_->pid());
  busy.erase(victim);
  ::kill(guardian_->pid(), SIGKILL);
  for (const int pid : busy) EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
  ::kill(victim, SIGKILL);
}

TEST_F(GuardianTest, NobodysCoresCannotBeLoaded) {
  ASSERT_TRUE(guardian_->load(1, 0x3fffff, 1).ok());
  const GuardianEvent loaded = wait_for(Kind::kLoaded).value_or(GuardianEvent{});
  EXPECT_EQ(loaded.a, 0);
  EXPECT_EQ(loaded.b, ESRCH);
}

TEST_F(GuardianTest, QuitEndsEverythingAndRemovesTheTemporaryDirectory) {
  const int pid = spawn_ready({"ignore_term"}).pid;
  const auto lines = guardian_->quit();
  ASSERT_TRUE(lines.ok()) << lines.error().to_string();
  EXPECT_TRUE(lines->failed.empty());
  EXPECT_FALSE(is_alive(pid));
  EXPECT_NE(::access(run_->tmp().c_str(), F_OK), 0);
}

TEST_F(GuardianTest, ItsLossIsTold) {
  const int guardian = guardian_->pid();
  ::kill(guardian, SIGKILL);
  EXPECT_TRUE(wait_for(Kind::kLost));
  EXPECT_FALSE(guardian_->next());
}

TEST_F(GuardianTest, SaysInTheControlPageThatTheHarnessIsGone) {
  const int fd = ::open(run_->control().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::ftruncate(fd, sizeof(rf_control)), 0);
  void* map = ::mmap(nullptr, sizeof(rf_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  auto* page = static_cast<rf_control*>(map);
  RF_STORE(&page->magic, RF_CONTROL_MAGIC);
  guardian_.reset();  // has the same effect as the death of the tool
  EXPECT_EQ(RF_LOAD(&page->harness_gone), 1u);
  EXPECT_EQ(RF_LOAD(&page->doorbell), 1u);
  ::munmap(map, sizeof(rf_control));
}

TEST(GuardianStart, NamesWhatIsMissing) {
  Scratch scratch;
  Result<RunDir> run = RunDir::create(scratch / "run", "test");
  ASSERT_TRUE(run.ok());
  ::setenv("RANKFAULT_GUARDIAN", "/no/such/guardian", 1);
  const auto guardian = Guardian::start(*run);
  ::unsetenv("RANKFAULT_GUARDIAN");
  ASSERT_FALSE(guardian.ok());
  EXPECT_THAT(guardian.error().message, ::testing::HasSubstr("/no/such/guardian"));
  ::rmdir(run->tmp().c_str());
}

}  // namespace
}  // namespace rankfault::test
