// inherited_test: a watched job has the signals and the descriptors that its shell gives it.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;

class Inherited : public ::testing::Test {
 protected:
  // Runs a shell line in which $WATCH is the tool before a job of one rank. Returns its exit status.
  int shell(const std::string& line) const {
    ::setenv("WATCH", (build_dir() + "/bin/rankfault watch --ranks 1 --run-dir " + run_ + " --").c_str(), 1);
    const int status = std::system((line + " >" + scratch_.file("output") + " 2>&1").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string printed() const { return read_file(run_ + "/logs/rank-0.a0.log"); }

  Scratch scratch_;
  std::string run_ = scratch_.file("run");
};

TEST_F(Inherited, IgnoredSignalsStayIgnored) {
  const std::string plain = scratch_.file("plain"), command = "grep SigIgn /proc/self/status";
  shell("trap '' PIPE HUP; " + command + " >" + plain + "; $WATCH " + command);
  EXPECT_THAT(printed(), HasSubstr("1001"));
  EXPECT_EQ(printed(), read_file(plain));
}

TEST_F(Inherited, AnOpenFileIsThere) {
  const std::string text = scratch_.write("text", "of the shell\n");
  shell("$WATCH sh -c 'cat <&3' 3<" + text);
  EXPECT_EQ(printed(), "of the shell\n");
}

// As nohup does.
TEST_F(Inherited, AHangUpThatIsIgnoredEndsNobody) {
  const std::string job = "sh -c 'touch " + scratch_.file("up") + "; sleep 1; echo done'";
  shell("trap '' HUP; $WATCH " + job + " & while [ ! -e " + scratch_.file("up") +
        " ]; do sleep 0.05; done; kill -HUP $!; wait $!");
  EXPECT_EQ(printed(), "done\n");
}

// The job inherits none of the tool's own files.
TEST_F(Inherited, NothingElseIsOpen) {
  shell("$WATCH sh -c 'ls -l /proc/self/fd'");
  EXPECT_EQ(printed().find(run_ + "/journal"), std::string::npos);
  EXPECT_EQ(printed().find("/records/"), std::string::npos);
  EXPECT_EQ(printed().find("socket:"), std::string::npos);
}

}  // namespace
}  // namespace rankfault::test
