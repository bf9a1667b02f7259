// json_dump_test: the JSON form, in any order of keys, entry by entry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/flight_recorder/write_dump.h"
#include "samples.h"

namespace rankfault::testing {
namespace {

using ::testing::HasSubstr;

std::string said(std::string_view text, const FrLimits& limits = {}) {
  const Result<FrDump> dump = from_json(text, limits);
  return dump ? "" : dump.error().message;
}

TEST(JsonDump, ReadsWhatItsWriterWroteAllButStacks) {
  const FrDump dump = sample_dump();
  const Result<FrDump> read = from_json(dump_to_json(dump));
  ASSERT_TRUE(read.ok()) << read.error().message;
  expect_equal(*read, dump, false);
  EXPECT_EQ(read->entries[0].frames, nullptr);
  EXPECT_EQ(read->format, FrFormat::kJson);
}

TEST(JsonDump, EntriesMayComeFirst) {
  const Result<FrDump> read =
      from_json(R"({"entries":[{"record_id":4}],"pg_config":{"entries":{"ranks":"[0]"}},"version":"2.10"})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->entries.at(0).record_id, 4);
  EXPECT_EQ(read->groups.at(0).key, "entries");
}

TEST(JsonDump, NamesThePlaceOfAMistake) {
  EXPECT_THAT(said("{\"version\": \"2.9\", }"), HasSubstr("byte 20"));
  EXPECT_THAT(said("{\"version\": \"2.9\"} x"), HasSubstr("byte "));
  EXPECT_THAT(said("[1]"), HasSubstr("it is a list"));
  EXPECT_THAT(said("{}"), HasSubstr("no `version`"));
  EXPECT_THAT(said(R"({"version":"2.9","entries":[3]})"), HasSubstr("entry 0"));
  EXPECT_THAT(said(R"({"version":"2.9","entries":[{"pg_id":"x"}]})"), HasSubstr("pg_id: a string"));
  EXPECT_THAT(said(R"({"version":"2.9","entries":[{"pg_id":18446744073709551615}]})"),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(said(R"({"version":"2.9","entries":[],"entries":[]})"), HasSubstr("a second list"));
}

TEST(JsonDump, NestingAndLongTokensAreRefused) {
  EXPECT_THAT(said(std::string(100'000, '[')), HasSubstr("too many open containers"));
  EXPECT_NE(said("{\"a\":" + std::string(100'000, '[')), "");
  FrLimits limits;
  limits.text = 1000;
  EXPECT_THAT(said("{\"version\":\"" + std::string(100'000, 'x') + "\"}", limits), HasSubstr("too long"));
  EXPECT_NE(said("{\"version\":" + std::string(100'000, '1') + "}", limits), "");
  limits = {};
  limits.bytes = 100'000;
  EXPECT_THAT(said("{\"version\":\"" + std::string(300'000, 'x') + "\"}", limits),
              HasSubstr("more than 100000 bytes"));
}

TEST(JsonDump, MemoryDoesNotGrowWithTheEntries) {
  FrDump many = sample_dump();
  for (int64_t i = 0; i < 20'000; ++i) many.entries.push_back(sample_entry(i));
  FrLimits limits;
  limits.memory = size_t{256} << 10;
  uint64_t seen = 0;
  const FrSink count = [&](FrEntry&) -> Status { return ++seen, Done{}; };
  const Result<FrDump> dump = from_json(dump_to_json(many), limits, count);
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  EXPECT_EQ(seen, many.entries.size());
}

}  // namespace
}  // namespace rankfault::testing
