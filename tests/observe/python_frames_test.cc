// PythonFrames: the file that the agent writes is made by hand here, and read whole, cut and damaged.
#include "harness/observe/python_frames.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "harness/observe/ring_reader.h"
#include "tests/observe/ring_file_writer.h"
#include "tests/support/tool.h"

namespace rankfault {
namespace {

class PythonFile {
 public:
  PythonFile() : bytes_(sizeof(rf_python_file), 0) {
    rf_python_file head{RF_PYTHON_MAGIC, RF_ABI_VERSION, 9};
    std::memcpy(bytes_.data(), &head, sizeof head);
  }
  // One line for each two bytes of code, from `first_line` on.
  uint32_t code(const std::string& file, const std::string& name, int first_line) {
    const std::string lines("\0\0\2\1\2\1", 6);
    rf_python_code code{
        RF_PYTHON_CODE, static_cast<uint16_t>(file.size()), static_cast<uint16_t>(name.size()), 1,
        first_line,     static_cast<uint32_t>(lines.size())};
    return add(&code, sizeof code, file + name + lines);
  }
  uint64_t stack(const std::vector<rf_python_frame>& frames) {
    rf_python_stack stack{};
    stack.kind = RF_PYTHON_STACK;
    stack.frames = static_cast<uint16_t>(frames.size());
    return RF_WHERE_OF_STACK(
        add(&stack, sizeof stack,
            {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof frames[0]}));
  }
  std::string& bytes() { return bytes_; }
  std::string write(const std::string& folder) const {
    std::ofstream(folder + "/one.python", std::ios::binary) << bytes_;
    return folder + "/one.ring";
  }

 private:
  uint32_t add(const void* entry, size_t size, const std::string& rest) {
    const auto at = static_cast<uint32_t>(bytes_.size());
    bytes_.append(static_cast<const char*>(entry), size);
    bytes_ += rest;
    bytes_.resize((bytes_.size() + 7) & ~size_t{7});
    return at;
  }
  std::string bytes_;
};

struct TrainerStack {
  PythonFile file;
  uint64_t where = 0;
  TrainerStack() {
    const uint32_t collective =
        file.code("/v/lib/python3.11/site-packages/torch/distributed/c10d.py", "all_reduce", 3);
    const uint32_t evaluate = file.code("/job/train.py", "evaluate", 30);
    const uint32_t library = file.code("/v/lib/python3.11/site-packages/lightning/loop.py", "Loop.run", 7);
    const uint32_t program = file.code("/job/train.py", "<module>", 57);
    where = file.stack({{collective >> 3, 0}, {evaluate >> 3, 2}, {library >> 3, 0}, {program >> 3, 4}});
  }
};

TEST(PythonFrames, NameTheProgramsOwnCodeInnermostFirst) {
  const test::Scratch scratch;
  TrainerStack job;
  const auto frames = PythonFrames(job.file.write(scratch.path())).of(job.where);
  ASSERT_TRUE(frames);
  ASSERT_EQ(frames->size(), 4u);
  EXPECT_EQ((*frames)[1].function, "evaluate");
  EXPECT_EQ((*frames)[1].line, 31);
  EXPECT_EQ(python_text(*frames), "evaluate() at train.py:31, called from train.py:59");
}

TEST(PythonFrames, OfADamagedFileAreNone) {
  const test::Scratch scratch;
  TrainerStack job;
  const std::string whole = job.file.bytes();
  for (size_t size = 0; size < whole.size(); size += 3) {
    job.file.bytes() = whole.substr(0, size);
    EXPECT_FALSE(PythonFrames(job.file.write(scratch.path())).of(job.where)) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    job.file.bytes() = whole;
    job.file.bytes()[at] = '\xff';
    PythonFrames(job.file.write(scratch.path())).of(job.where);  // whatever it says, it ends
  }
  EXPECT_FALSE(PythonFrames(scratch.file("absent.ring")).of(job.where));
  job.file.bytes() = whole;
  EXPECT_FALSE(PythonFrames(job.file.write(scratch.path())).of(RF_WHERE_PYTHON | 7))
      << "no entry begins there";
}

TEST(PythonOfAProcess, SaysWhyItsCallsHaveNoFrames) {
  const test::Scratch scratch;
  testing::RingFileWriter writer(scratch.path(), {}, 0, 2);
  const auto reader = RingReader::open(writer.path());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ((*reader)->python(), "");
  writer.header().python_minor = 13;
  EXPECT_EQ((*reader)->python(), "3.13");
  const uint64_t before = (*reader)->claim();
  writer.header().python_off = RF_PYTHON_FREE_THREADED;
  EXPECT_EQ((*reader)->python(), "3.13: it is the free-threaded build");
  EXPECT_NE((*reader)->claim(), before) << "the line of the process is written again";
}

}  // namespace
}  // namespace rankfault
