// python_traceback: texts as CPython and PyTorch write them.
#include "harness/symbols/python_traceback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace rankfault {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(PythonTraceback, HasTheExceptionAndTheFramesInnermostFirst) {
  const auto found = python_traceback(lines_of(R"(step 3
Traceback (most recent call last):
  File "/job/train.py", line 20, in <module>
    main()
  File "/job/train.py", line 16, in main
    train_step(model, read_batch(rank, step))
                      ^^^^^^^^^^^^^^^^^^^^^^
  File "/job/data.py", line 7, in read_batch
    raise ValueError("the sample has no label")
ValueError: the sample has no label)"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exception, "ValueError: the sample has no label");
  EXPECT_EQ(python_text(found->frames), "read_batch() at data.py:7, called from main() at train.py:16");
  EXPECT_THAT(found->behind, IsEmpty());
}

TEST(PythonTraceback, IsReadBehindThePrefixesOfPyTorch) {
  const auto found = python_traceback(lines_of(R"([rank1]: Traceback (most recent call last):
[rank1]:   File "/job/train.py", line 9, in step
[rank1]:     loss.backward()
[rank1]: RuntimeError: Expected to have finished reduction in the prior iteration
[rank1]: making sure all outputs participate in the loss.)"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exception, "RuntimeError: Expected to have finished reduction in the prior iteration");
  EXPECT_THAT(found->behind, ElementsAre("making sure all outputs participate in the loss."));
}

TEST(PythonTraceback, OfSeveralTheLastCounts) {
  const auto found = python_traceback(lines_of(R"(Traceback (most recent call last):
  File "/job/a.py", line 1, in f
    g()
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/job/a.py", line 3, in f
    h()
OSError: [Errno 28] No space left on device)"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exception, "OSError: [Errno 28] No space left on device");
  EXPECT_EQ(found->frames.front().line, 3);
}

TEST(PythonTraceback, OfASyntaxErrorHasNoFunction) {
  const auto found = python_traceback(lines_of(R"(Traceback (most recent call last):
  File "/job/train.py", line 2, in <module>
    import model
  File "/job/model.py", line 5
    def f(:
          ^
SyntaxError: invalid syntax)"));
  ASSERT_TRUE(found);
  EXPECT_EQ(python_text(found->frames), "model.py:5, called from train.py:2");
}

constexpr const char* kFatal = R"(Traceback (most recent call last):
  File "/job/train.py", line 3, in step
    read()
ValueError: no label
)";

TEST(PythonTraceback, PassesOverThoseThatEndNoProgram) {
  for (const char* head :
       {"Exception ignored in: <function Store.__del__ at 0x7f>",
        "Exception in thread Thread-1:", "--- Logging error ---", "Error in atexit._run_exitfuncs:"}) {
    const auto found = python_traceback(lines_of(std::string(kFatal) + head + R"(
Traceback (most recent call last):
  File "/job/store.py", line 9, in close
    self.file.close()
OSError: [Errno 9] Bad file descriptor)"));
    ASSERT_TRUE(found) << head;
    EXPECT_EQ(found->exception, "ValueError: no label") << head;
  }
  EXPECT_FALSE(python_traceback(
      lines_of(std::string(kFatal) + "  + Exception Group Traceback (most recent call last):")));
}

TEST(PythonTraceback, OfAnotherRankDoesNotCount) {
  const auto lines = lines_of(R"([rank0]: Traceback (most recent call last):
[rank0]:   File "/job/train.py", line 3, in step
[rank0]: ValueError: of rank 0
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/train.py", line 4, in step
[rank1]: ValueError: of rank 1)");
  EXPECT_EQ(python_traceback(lines, 0)->exception, "ValueError: of rank 0");
  EXPECT_EQ(python_traceback(lines, 1)->exception, "ValueError: of rank 1");
  EXPECT_FALSE(python_traceback(lines, 2));
}

TEST(PythonTraceback, IsNoneWithoutOneOrWhenItIsCut) {
  EXPECT_FALSE(python_traceback({}));
  EXPECT_FALSE(python_traceback({"ValueError: said by a program of C"}));
  EXPECT_FALSE(python_traceback(
      lines_of("Traceback (most recent call last):\n  File \"/job/train.py\", line 20, in f\n    g()")));
  EXPECT_FALSE(python_traceback(lines_of("Traceback (most recent call last):\nKeyboardInterrupt")));
}

TEST(PythonTraceback, TheReportOfFaulthandlerHasTheThreadThatGotTheSignal) {
  const auto found = python_traceback(lines_of(R"(Traceback (most recent call last):
  File "/job/a.py", line 1, in f
    g()
KeyError: 'handled'
Fatal Python error: Segmentation fault

Thread 0x00007f3b8ffff6c0 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
  File "/usr/lib/python3.11/threading.py", line 995 in _bootstrap

Current thread 0x00007f3ba1b7d040 (most recent call first):
  File "/job/train.py", line 9 in step
  File "/job/train.py", line 12 in <module>

Extension modules: numpy.core._multiarray_umath, torch._C (total: 20))"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exception, "Fatal Python error: Segmentation fault");
  EXPECT_EQ(python_text(found->frames), "step() at train.py:9, called from train.py:12");
  EXPECT_THAT(found->behind, IsEmpty());
}

// A worker of a DataLoader writes to the rank's output. The rank then raises, and that ends it.
TEST(PythonTraceback, AnExceptionBehindAReportOfFaulthandlerCounts) {
  const auto found = python_traceback(lines_of(R"(Fatal Python error: Segmentation fault

Current thread 0x00007f3ba1b7d040 (most recent call first):
  File "/job/data.py", line 9 in __getitem__
Traceback (most recent call last):
  File "/job/train.py", line 20, in <module>
    for batch in loader:
RuntimeError: DataLoader worker (pid 7) is killed by signal: Segmentation fault.)"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exception,
            "RuntimeError: DataLoader worker (pid 7) is killed by signal: Segmentation fault.");
}

// faulthandler.dump_traceback_later() writes where the threads are, and the program continues.
TEST(PythonTraceback, AReportOfFaulthandlerAboutATimeoutIsNoEnd) {
  EXPECT_FALSE(python_traceback(lines_of(R"(Timeout (0:00:10)!
Thread 0x00007f3ba1b7d040 (most recent call first):
  File "/job/train.py", line 9 in step)")));
}

}  // namespace
}  // namespace rankfault
