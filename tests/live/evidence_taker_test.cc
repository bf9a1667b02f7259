// evidence_taker_test: when the evidence of a hang is taken, and when it is taken again.
#include "harness/live/evidence_taker.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "harness/base/process_tree.h"
#include "tests/support/timeline_builder.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

using ::testing::SizeIs;

Finding finding(const char* kind, int rank) {
  Finding f;
  f.kind = kind;
  f.ranks = {rank};
  return f;
}

class EvidenceTakerTest : public ::testing::Test {
 protected:
  EvidenceTakerTest() {
    if (pid_ == 0)
      for (;;) ::pause();
    timeline_ = TimelineBuilder(1).build();
    timeline_.processes[0].id.pid = pid_;
    timeline_.processes[0].id.start = proc_stat(pid_)->start;
  }
  ~EvidenceTakerTest() override {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    std::filesystem::remove(run_->tmp());  // the guardian does this in a run; here it is missing
  }
  bool there_is(const std::string& name) { return !test::read_file(run_->file("evidence/" + name)).empty(); }

  test::Scratch scratch_;
  Result<RunDir> run_ = RunDir::create(scratch_.file("run"), "evidence");
  Result<Journal> journal_ = Journal::create(scratch_.file("journal.ndjson"));
  Timeline timeline_;
  pid_t pid_ = ::fork();  // the last member: the child makes no directories
};

TEST_F(EvidenceTakerTest, ASecondHangOfAnAttemptIsLookedAtAgain) {
  EvidenceTaker taker(*run_, ::getpid(), *journal_, nullptr);
  EXPECT_THAT(taker.take(timeline_, {finding("slow_rank", 0)}), SizeIs(1));
  EXPECT_TRUE(there_is("rank-0.json"));
  EXPECT_FALSE(taker.wants(timeline_, {finding("slow_rank", 1)})) << "that job goes on";
  const std::vector<Finding> hang{finding("stuck_outside", 0)};
  EXPECT_TRUE(taker.wants(timeline_, hang));
  EXPECT_THAT(taker.take(timeline_, hang), SizeIs(1));
  EXPECT_TRUE(there_is("rank-0.2.json"));
  EXPECT_FALSE(taker.wants(timeline_, hang)) << "the same again";
  EXPECT_TRUE(taker.wants(timeline_, {finding("wedged", 0)}));
  Finding over = finding("wedged", 0);
  over.withdrawn = true;
  EXPECT_FALSE(taker.wants(timeline_, {over}));
}

TEST_F(EvidenceTakerTest, IsTakenAFewTimesAtMost) {
  EvidenceTaker taker(*run_, ::getpid(), *journal_, nullptr);
  int times = 0;
  for (int rank = 0; rank < 40; ++rank)
    if (const std::vector<Finding> hang{finding("wedged", rank)}; taker.wants(timeline_, hang)) {
      taker.take(timeline_, hang);
      ++times;
    }
  EXPECT_EQ(times, 8);
}

}  // namespace
}  // namespace rankfault::testing
