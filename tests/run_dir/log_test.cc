// log_test: where the lines of the tool's own log go.
#include "harness/base/log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace rankfault::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ToolLog : public testing::Test {
 protected:
  std::string path_ = testing::TempDir() + "tool-" + std::to_string(::getpid()) + ".log";
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(ToolLog, HasEveryLineFromItsBeginToItsEnd) {
  tool_log(LogLevel::kError, "before");
  {
    RunLog log(path_);
    tool_log(LogLevel::kDebug, "rank {} ended", 3);
    tool_log(LogLevel::kWarn, "a warning");
  }
  tool_log(LogLevel::kError, "after");
  EXPECT_THAT(text(), HasSubstr("debug rank 3 ended\n"));
  EXPECT_THAT(text(), HasSubstr("a warning\n"));
  EXPECT_THAT(text(), Not(HasSubstr("before")));
  EXPECT_THAT(text(), Not(HasSubstr("after")));
}

TEST_F(ToolLog, StopsWhenItIsFull) {
  RunLog log(path_);
  const std::string line(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) log_text(LogLevel::kInfo, line);
  EXPECT_LT(std::filesystem::file_size(path_), size_t{18} << 20);
  EXPECT_TRUE(text().ends_with("the log is full: nothing more is written\n"));
}

TEST_F(ToolLog, AMissingOneHarmsNoRun) {
  RunLog log("/nonexistent/tool.log");
  tool_log(LogLevel::kError, "nobody reads this");
}

TEST_F(ToolLog, RefusesAnUnknownLevel) {
  const Status refused = log_to_terminal("loud");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("write error, warn, info, debug or off"));
  EXPECT_TRUE(log_to_terminal("off").ok());
}

}  // namespace
}  // namespace rankfault::test
