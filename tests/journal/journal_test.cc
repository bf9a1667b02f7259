// journal_test: a journal on a full disk, and a journal into which another process wrote.
#include "harness/journal/journal.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/facts/journal_facts.h"

namespace rankfault::test {
namespace {

using testing::HasSubstr;

// Limits the size of this process's files. For the writer, a refused write looks like a full disk.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class JournalTest : public testing::Test {
 protected:
  ~JournalTest() override { std::filesystem::remove_all(folder_); }
  void append(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }

  std::string folder_ = [] {
    std::string name = "/tmp/rankfault-test.XXXXXX";
    return std::string(::mkdtemp(name.data()));
  }();
  std::string path_ = folder_ + "/journal.ndjson";
  Result<Journal> journal_ = Journal::create(path_);
};

TEST_F(JournalTest, ALineThatTheDiskRefusesIsCountedAndLeavesAGap) {
  journal_->write(events::RunBegin{});
  const auto size = std::filesystem::file_size(path_);
  {
    const SizeLimit full(size + 20);  // a part of the next line fits
    journal_->write(events::Teardown{"wall"});
    journal_->write(events::Teardown{"wall"});
  }
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  journal_->write(events::RunEnd{});
  EXPECT_EQ(journal_->lost(), 2u);
  EXPECT_THAT(journal_->why_lost(), HasSubstr("File too large"));
  const auto lines = read_journal(path_);
  ASSERT_TRUE(lines) << lines.error().to_string();
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_TRUE((*lines)[1].as<events::RunEnd>());
  EXPECT_EQ(lost_lines(*lines), 2u);
}

TEST_F(JournalTest, OfAWholeJournalNothingIsLost) {
  journal_->write(events::RunBegin{});
  journal_->write(events::Look{});
  journal_->write(events::RunEnd{});
  EXPECT_EQ(journal_->lost(), 0u);
  EXPECT_EQ(lost_lines(*read_journal(path_)), 0u);
}

TEST_F(JournalTest, ALineThatSomebodyElseWroteIsToldWithItsPlaceAndNothingIsJudged) {
  for (const char* foreign : {"no json {{{\n", "[1,2]\n", "{\"ev\":\"census\"}\n",
                              "{\"n\":1,\"t\":5,\"ev\":\"census\"}\n", "{\"n\":7,\"t\":5,\"ev\":5}\n"}) {
    std::filesystem::remove(path_);
    Result<Journal> journal = Journal::create(path_);
    journal->write(events::RunBegin{});
    append(foreign);
    journal->write(events::RunEnd{});
    const auto lines = read_journal(path_);
    ASSERT_FALSE(lines) << foreign;
    EXPECT_EQ(lines.error().kind, ErrorKind::kUnjudged) << foreign;
    EXPECT_THAT(lines.error().to_string(), HasSubstr("journal.ndjson:2:1: ")) << foreign;
  }
}

TEST_F(JournalTest, AKeyOfAnotherTypeIsNamedWithItsEvent) {
  append("{\"n\":1,\"t\":5,\"ev\":\"rank_end\",\"rank\":\"two\"}\n");
  const auto lines = read_journal(path_);
  ASSERT_FALSE(lines);
  EXPECT_THAT(lines.error().message, HasSubstr("\"rank\" of its event rank_end has another type"));
}

// A newer rankfault may write events and keys that this one does not know.
TEST_F(JournalTest, AnUnknownEventAndAnUnknownKeyArePassedOver) {
  append("{\"n\":1,\"t\":5,\"ev\":\"weather\",\"rain\":true}\n");
  append("{\"n\":2,\"t\":6,\"ev\":\"teardown\",\"reason\":\"wall\",\"rain\":true}\n");
  const auto lines = read_journal(path_);
  ASSERT_TRUE(lines) << lines.error().to_string();
  EXPECT_TRUE(std::holds_alternative<std::monostate>(lines->at(0).event));
  EXPECT_EQ(lines_of<events::Teardown>(*lines).at(0)->reason, "wall");
}

TEST_F(JournalTest, ATornLastLineIsLeftOut) {
  journal_->write(events::RunBegin{});
  append("{\"n\":2,\"t\":");
  const auto lines = read_journal(path_);
  ASSERT_TRUE(lines) << lines.error().to_string();
  EXPECT_EQ(lines->size(), 1u);
}

}  // namespace
}  // namespace rankfault::test
