// write_dump_test: dumps on disk, and dumps that cannot be written.
#include "harness/flight_recorder/write_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/flight_recorder/read_dumps.h"
#include "samples.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

TEST(WriteDump, WhatIsWrittenIsReadBack) {
  const test::Scratch folder;
  for (const FrFormat format : {FrFormat::kPickle, FrFormat::kJson}) {
    const Result<std::string> path = write_dump(folder.path(), "trace_rank_", sample_dump(12), format);
    ASSERT_TRUE(path.ok()) << path.error().message;
    EXPECT_EQ(*path, folder.file("trace_rank_12"));
    const Result<FrDump> read = read_dump({*path, "", 12, ""});
    ASSERT_TRUE(read.ok()) << read.error().message;
    expect_equal(*read, sample_dump(12), format == FrFormat::kPickle);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "nothing is left beside it";
}

TEST(WriteDump, AnEmptyDumpAndAStrangeOneAreWrittenToo) {
  FrDump dump;
  dump.rank = 0;
  Result<FrDump> read = from_pickle(dump_to_pickle(dump));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->version, "2.10");
  dump.entries.resize(1);
  dump.entries[0].profiling_name = "a\xff\nb";
  dump.entries[0].state_word = "paused";
  read = from_pickle(dump_to_pickle(dump));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->entries[0].profiling_name, "a??b");
  EXPECT_EQ(read->entries[0].state_word, "paused");
  EXPECT_TRUE(from_json(dump_to_json(dump)).ok());
}

TEST(WriteDump, MoreThan256TextsAreKeptApart) {
  FrDump dump = sample_dump();
  for (int64_t i = 0; i < 500; ++i) {
    dump.entries.push_back(sample_entry(i));
    dump.entries.back().thread_name = "thread " + std::to_string(i / 2);
  }
  dump.entry_count = dump.entries.size();
  const Result<FrDump> read = from_pickle(dump_to_pickle(dump));
  ASSERT_TRUE(read.ok()) << read.error().message;
  expect_equal(*read, dump);
}

TEST(WriteDump, RefusesPrefixesThatWouldMislead) {
  const test::Scratch folder;
  FrDump dump = sample_dump(3);
  dump.side = FrSide{};
  for (const char* prefix : {"", "a/b", ".x", "run7", "rank"}) {
    const Result<std::string> path = write_dump(folder.path(), prefix, dump);
    ASSERT_FALSE(path.ok()) << prefix;
    EXPECT_THAT(path.error().message, HasSubstr("prefix"));
  }
  dump.rank = -1;
  EXPECT_FALSE(write_dump(folder.path(), "_dump_", dump).ok());
  dump.rank = 3;
  EXPECT_FALSE(write_dump(folder.path() + "/none", "_dump_", dump).ok());
}

}  // namespace
}  // namespace rankfault::testing
