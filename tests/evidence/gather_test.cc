// gather_test: the evidence of real processes: stacks, states, sockets, ranks below a launcher.
#include "harness/evidence/gather.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "harness/evidence/calls.h"
#include "harness/evidence/job_ranks.h"
#include "harness/evidence/python_stacks.h"
#include "tests/evidence/child.h"

namespace rankfault::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

__attribute__((noinline)) void stay_here() {
  for (;;) ::pause();
}

bool names_function(const ThreadEvidence& thread, const std::string& part) {
  for (const Frame& f : thread.frames)
    if (f.function.find(part) != std::string::npos) return true;
  return false;
}

TEST(Gather, ShowsWhereASleepingProcessStandsAndLeavesItAsItWas) {
  const Child child([] {}, stay_here);
  child.wait_for_state('S');
  Places places;
  const auto evidence = gather(child.pid(), child.start(), 3, places);
  ASSERT_TRUE(evidence.ok()) << evidence.error().message;
  EXPECT_EQ(evidence->rank, 3);
  EXPECT_EQ(evidence->no_stacks, "");
  ASSERT_EQ(evidence->threads.size(), 1u);
  const ThreadEvidence& main = evidence->threads[0];
  EXPECT_EQ(main.state, 'S');
  EXPECT_TRUE(names_function(main, "pause"));
  EXPECT_TRUE(names_function(main, "stay_here"));
  EXPECT_THAT(own_frames(main, 1), Contains(HasSubstr("gather_test.cc:")));
  child.wait_for_state('S');
  EXPECT_EQ(::waitpid(child.pid(), nullptr, WNOHANG | WUNTRACED), 0) << "it was stopped or ended";
}

TEST(Gather, ShowsEveryThread) {
  const Child child([] {},
                    [] {
                      std::thread other(stay_here);
                      stay_here();
                    });
  Places places;
  Result<RankEvidence> evidence = gather(child.pid(), child.start(), 0, places);
  while (evidence.ok() && evidence->threads.size() < 2)  // it still starts
    evidence = gather(child.pid(), child.start(), 0, places);
  ASSERT_TRUE(evidence.ok());
  EXPECT_EQ(evidence->threads[0].tid, child.pid());
  for (const ThreadEvidence& thread : evidence->threads) EXPECT_FALSE(thread.frames.empty());
}

TEST(Gather, AStoppedProcessStaysStopped) {
  const Child child([] {}, stay_here);
  child.wait_for_state('S');
  ::kill(child.pid(), SIGSTOP);
  child.wait_for_state('T');
  Places places;
  const auto evidence = gather(child.pid(), child.start(), 0, places);
  ASSERT_TRUE(evidence.ok());
  EXPECT_EQ(evidence->threads[0].state, 'T');
  EXPECT_TRUE(names_function(evidence->threads[0], "stay_here"));
  child.wait_for_state('T');
  ::kill(child.pid(), SIGCONT);
  child.wait_for_state('S');
}

// As for a thread that is about to end: the kernel refuses to hold it.
TEST(Gather, AThreadThatMayNotBeHeldHidesNoOther) {
  const Child child([] {},
                    [] {
                      std::thread other(stay_here);
                      stay_here();
                    });
  const Child tracer(
      [&] {
        if (::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr) != 0) ::_exit(1);
      },
      stay_here);
  Places places;
  Result<RankEvidence> evidence = gather(child.pid(), child.start(), 0, places);
  while (evidence.ok() && evidence->threads.size() < 2)  // it still starts
    evidence = gather(child.pid(), child.start(), 0, places);
  ASSERT_TRUE(evidence.ok());
  EXPECT_TRUE(evidence->threads[0].frames.empty());
  EXPECT_FALSE(evidence->threads[1].frames.empty());
  EXPECT_THAT(evidence->no_stacks, HasSubstr("not permitted"));
  EXPECT_GT(evidence->cpu_time, 0ns);
}

TEST(Gather, SaysWhyAProcessThatIsTracedHasNoStacks) {
  const Child child([] {}, stay_here);
  int result[2];
  ASSERT_EQ(::pipe(result), 0);
  const Child debugger(
      [&] {
        const char held = ::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr) == 0 ? 'y' : 'n';
        (void)!::write(result[1], &held, 1);
      },
      stay_here);
  char held = 0;
  ASSERT_EQ(::read(result[0], &held, 1), 1);
  ::close(result[0]);
  ::close(result[1]);
  if (held != 'y') GTEST_SKIP() << "no process here may trace another one";
  Places places;
  const auto evidence = gather(child.pid(), child.start(), 0, places);
  ASSERT_TRUE(evidence.ok());
  EXPECT_THAT(evidence->no_stacks, HasSubstr("already traces it"));
  EXPECT_TRUE(evidence->threads[0].frames.empty());
}

TEST(Gather, RefusesAnotherProcessUnderTheSamePid) {
  const Child child([] {}, stay_here);
  Places places;
  EXPECT_FALSE(gather(child.pid(), child.start() + 1, 0, places).ok());
  EXPECT_FALSE(gather(-1, 0, 0, places).ok());
}

TEST(Gather, CountsWhatWaitsInTheSockets) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  int mine = -1;
  const Child child(
      [&] {
        const int out = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::connect(out, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ::_exit(1);
        ::close(listener);
      },
      stay_here);
  mine = ::accept(listener, nullptr, nullptr);
  ASSERT_EQ(::send(mine, "12345", 5, 0), 5);
  Places places;
  const auto evidence = gather(child.pid(), child.start(), 0, places);
  ASSERT_TRUE(evidence.ok());
  ASSERT_EQ(evidence->sockets.size(), 1u);
  EXPECT_EQ(evidence->sockets[0].receive_queue, 5u);
  EXPECT_EQ(evidence->sockets[0].peer, "127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  EXPECT_EQ(evidence->sockets[0].state, "established");
  ::close(mine);
  ::close(listener);
}

TEST(JobRanks, ReadsTheRankFromTheEnvironmentOfEachProcess) {
  const Child zero({"/bin/sleep", "1000"}, {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "7"}});
  const Child one({"/bin/sleep", "1000"}, {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "7"}});
  const Child other({"/bin/sleep", "1000"}, {{"RANKS", "3"}});
  const auto job = ranks_below(::getpid());
  ASSERT_TRUE(job.ok()) << job.error().message;
  ASSERT_EQ(job->ranks.size(), 2u);
  EXPECT_EQ(job->world_size, 2);
  EXPECT_EQ(job->ranks[0].pid, zero.pid());
  EXPECT_EQ(job->ranks[1].pid, one.pid());
}

TEST(JobRanks, RefusesWhatIsNoJob) {
  EXPECT_FALSE(ranks_below(-1).ok());
  EXPECT_THAT(ranks_below(0x3fffffff).error().message, HasSubstr("does not exist"));
  const Child alone({"/bin/sleep", "1000"}, {{"RANK", "first"}});
  EXPECT_THAT(ranks_below(alone.pid()).error().message, HasSubstr("is a rank"));
}

// py-spy does not always know a thread's number: its frames must not go to another thread.
TEST(PySpy, FramesWithoutANumberAreNobodyElses) {
  RankEvidence e;
  e.pid = 10;
  e.threads.resize(1);
  e.threads[0].tid = 10;
  ASSERT_TRUE(take_py_spy(
      R"([{"os_thread_id": null, "thread_name": "loader", "frames": [{"name": "load", "filename": "/l.py", "line": 3}]},
          {"thread_name": "MainThread", "frames": [{"name": "main", "filename": "/t.py", "line": 5}]},
          {"thread_name": null, "frames": [{"name": "other", "filename": "/o.py", "line": 7}]}])",
      e));
  ASSERT_EQ(e.threads.size(), 3u);
  ASSERT_EQ(e.threads[0].python.size(), 1u);
  EXPECT_EQ(e.threads[0].python[0].function, "main");
  EXPECT_EQ(e.threads[1].name, "loader");
  EXPECT_EQ(e.threads[1].tid, 0);
  EXPECT_EQ(e.threads[2].python[0].function, "other");
}

TEST(PySpy, ItsFramesGoToTheirThreads) {
  RankEvidence e;
  e.pid = 10;
  e.threads.resize(2);
  e.threads[0].tid = 10;
  e.threads[1].tid = 11;
  ASSERT_TRUE(take_py_spy(
      R"([{"os_thread_id": 11, "frames": [
            {"name": "all_reduce", "filename": "/v/site-packages/torch/distributed/distributed_c10d.py", "line": 7},
            {"name": "main", "filename": "/home/me/train.py", "line": 12}]}])",
      e));
  ASSERT_EQ(e.threads[1].python.size(), 2u);
  EXPECT_TRUE(e.threads[1].python[0].library);
  EXPECT_EQ(e.threads[1].python[1].where, "train.py:12");
  EXPECT_EQ(call_of(e.threads[1]).name, "torch.distributed.all_reduce");
  EXPECT_TRUE(e.threads[0].python.empty());
  EXPECT_FALSE(take_py_spy("Error: Permission denied", e));
  EXPECT_FALSE(take_py_spy("[1]", e));
}

}  // namespace
}  // namespace rankfault::test
