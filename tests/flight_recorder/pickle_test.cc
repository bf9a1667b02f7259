// pickle_test: every opcode of plain data, the memo, and how entries are passed on.
#include "harness/flight_recorder/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/flight_recorder/write_dump.h"
#include "samples.h"

namespace rankfault::testing {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): byte strings with zeros
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pickle, ReadsWhatItsWriterWrote) {
  const FrDump dump = sample_dump();
  const Result<FrDump> read = from_pickle(dump_to_pickle(dump));
  ASSERT_TRUE(read.ok()) << read.error().message;
  expect_equal(*read, dump);
  EXPECT_EQ(read->entries[0].frames, read->entries[2].frames) << "equal stacks are one";
}

TEST(Pickle, ReadsEveryInteger) {
  EXPECT_EQ(read_value("K\xff"s), "255");
  EXPECT_EQ(read_value("M\x01\x02"s), "513");
  EXPECT_EQ(read_value("J\xff\xff\xff\xff"s), "-1");
  EXPECT_EQ(read_value("\x8a\x00"s), "0");
  EXPECT_EQ(read_value("\x8a\x01\xff"s), "-1");
  EXPECT_EQ(read_value("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s), "-9223372036854775808");
  EXPECT_EQ(read_value("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\x00"s), "9223372036854775807");
  EXPECT_EQ(read_value("\x8b\x02\x00\x00\x00\x00\x01"s), "256");
  EXPECT_EQ(read_value("I-12\n"), "-12");
  EXPECT_EQ(read_value("L123L\n"), "123");
  EXPECT_EQ(read_value("I01\n"), "true");
  EXPECT_EQ(read_value("I00\n"), "false");
  EXPECT_THAT(read_value("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"s), HasSubstr("more than 64 bits"));
  EXPECT_THAT(read_value("L99999999999999999999L\n"), HasSubstr("more than 64 bits"));
  EXPECT_THAT(read_value("Ix\n"), HasSubstr("an invalid integer"));
}

TEST(Pickle, ReadsEveryText) {
  EXPECT_EQ(read_value("X\x02\x00\x00\x00hi"s), "hi");
  EXPECT_EQ(read_value("\x8c\x02hi"s), "hi");
  EXPECT_EQ(read_value("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi"s), "hi");
  EXPECT_EQ(read_value("T\x02\x00\x00\x00hi"s), "hi");
  EXPECT_EQ(read_value("U\x02hi"s), "hi");
  EXPECT_EQ(read_value("C\x02hi"s), "hi");
  EXPECT_EQ(read_value("B\x02\x00\x00\x00hi"s), "hi");
  EXPECT_EQ(read_value("\x8e\x02\x00\x00\x00\x00\x00\x00\x00hi"s), "hi");
  EXPECT_EQ(read_value("\x96\x02\x00\x00\x00\x00\x00\x00\x00hi"s), "hi");
  EXPECT_EQ(read_value("S'h\\x69\\'\\\\'\n"), "hi'\\");
  EXPECT_EQ(read_value("Vh\\u00e4\xe4\\\n"), "h\xc3\xa4\xc3\xa4\\");
  EXPECT_THAT(read_value("S'hi\n"), HasSubstr("an invalid string"));
}

TEST(Pickle, ReadsTheRestOfThePlainValues) {
  EXPECT_EQ(read_value("N"), "");
  EXPECT_EQ(read_value("\x88"), "true");
  EXPECT_EQ(read_value("\x89"), "false");
  EXPECT_EQ(read_value("G\x3f\xd0\x00\x00\x00\x00\x00\x00"s), "0.25");
  EXPECT_EQ(read_value("F0.25\n"), "0.25");
}

std::vector<std::vector<int64_t>> sizes(std::string_view value) {
  const Result<FrDump> dump = from_pickle(dump_of_entry("input_sizes", value));
  EXPECT_TRUE(dump.ok()) << dump.error().message;
  return dump ? dump->entries.at(0).input_sizes : std::vector<std::vector<int64_t>>{{-1}};
}

TEST(Pickle, ReadsListsAndTuplesHoweverTheyAreBuilt) {
  EXPECT_THAT(sizes("]](K\x01K\x02"
                    "ea"),
              ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(sizes("](]K\x01"
                    "a]e"),
              ElementsAre(ElementsAre(1), ElementsAre()));
  EXPECT_THAT(sizes("(K\x01\x85K\x02K\x03\x86K\x04K\x05K\x06\x87)t"),
              ElementsAre(ElementsAre(1), ElementsAre(2, 3), ElementsAre(4, 5, 6), ElementsAre()));
  EXPECT_THAT(sizes("((K\x01l(K\x02tl"), ElementsAre(ElementsAre(1), ElementsAre(2)));
}

TEST(Pickle, SharesWhatTheMemoHolds) {
  EXPECT_THAT(sizes("(]q\x00(K\x01"
                    "eh\x00t"s),
              ElementsAre(ElementsAre(1), ElementsAre(1)));
  EXPECT_THAT(sizes("(]p0\n(K\x01"
                    "eg0\nt"),
              ElementsAre(ElementsAre(1), ElementsAre(1)));
  EXPECT_THAT(sizes("(]r\x00\x00\x00\x00(K\x01"
                    "ej\x00\x00\x00\x00t"s),
              ElementsAre(ElementsAre(1), ElementsAre(1)));
  EXPECT_THAT(sizes("(]\x94(K\x01"
                    "eh\x00t"s),
              ElementsAre(ElementsAre(1), ElementsAre(1)));
  // written twice: the later value counts
  EXPECT_THAT(sizes("(]q\x00(K\x01"
                    "e]q\x00(K\x02"
                    "eh\x00t"s),
              ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(2)));
}

TEST(Pickle, ReadsSetsAndLeavesUnknownFieldsOut) {
  for (const std::string& value : {"\x8f(K\x01\x90"s, "(K\x01\x91"s, "}(K\x01K\x02u"s,
                                   "(K\x01K\x02"
                                   "d"s,
                                   "}K\x01K\x02s"s}) {
    const Result<FrDump> dump = from_pickle(dump_of_entry("not_known", value));
    ASSERT_TRUE(dump.ok()) << dump.error().message;
    EXPECT_EQ(dump->entry_count, 1u);
  }
}

TEST(Pickle, ReadsProtocol0) {
  const std::string bytes =
      "(dp0\nVversion\np1\nV2.4\np2\nsVentries\np3\n(lp4\n"
      "(dp5\nVrecord_id\np6\nI7\nsVstate\np7\nVstarted\np8\nsa"
      "(dp9\ng6\nI8\nsg7\ng8\nsas.";
  const Result<FrDump> dump = from_pickle(bytes);
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  ASSERT_EQ(dump->entries.size(), 2u);
  EXPECT_EQ(dump->entries[1].record_id, 8);
  EXPECT_EQ(dump->entries[1].state, FrState::kStarted);
}

// As Python's pickler writes it: frames, MEMOIZE for each object, APPENDS in batches.
TEST(Pickle, ReadsProtocol4InBatches) {
  const auto word = [](std::string_view s) {
    return "\x8c" + std::string(1, static_cast<char>(s.size())) + std::string(s) + "\x94";
  };
  std::string bytes = "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94("s + word("version") + word("2.9") +
                      word("entries") + "]\x94";
  for (int batch = 0; batch < 3; ++batch)
    bytes += "(}\x94" + word("record_id") + "K\x01s}\x94" + word("record_id") + "K\x02se";
  const Result<FrDump> dump = from_pickle(bytes + "u.");
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  ASSERT_EQ(dump->entries.size(), 6u);
  EXPECT_EQ(dump->entries[0].record_id, 1);
  EXPECT_EQ(dump->entries[5].record_id, 2);
}

TEST(Pickle, AnEntryMayReferToAnEarlierOne) {
  // entry 0 holds a list that entries 1 and 2 get from the memo; entry 3 is the whole of entry 1 from the
  // memo
  const std::string bytes = dump_with("entries", "](}(" + text_op("input_sizes") +
                                                     "](](K\x05"
                                                     "eeq\x00u"s +
                                                     "}q\x01("s + text_op("output_sizes") + "h\x00u"s + "}(" +
                                                     text_op("input_sizes") + "h\x00u"s +
                                                     "h\x01"
                                                     "e"s);
  const Result<FrDump> dump = from_pickle(bytes);
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  ASSERT_EQ(dump->entries.size(), 4u);
  EXPECT_THAT(dump->entries[0].input_sizes, ElementsAre(ElementsAre(5)));
  EXPECT_THAT(dump->entries[1].output_sizes, ElementsAre(ElementsAre(5)));
  EXPECT_THAT(dump->entries[2].input_sizes, ElementsAre(ElementsAre(5)));
  EXPECT_THAT(dump->entries[2].output_sizes, ElementsAre());
  EXPECT_THAT(dump->entries[3].output_sizes, ElementsAre(ElementsAre(5)));
}

TEST(Pickle, AnOlderContainerKeepsWhatALaterEntryPutIntoIt) {
  // an entry gets pg_config's dict from the memo, and the dict gets a group there; many entries follow
  std::string bytes = "\x80\x02}(" + text_op("version") + text_op("2.9") + text_op("pg_config") + "}q\x00"s +
                      text_op("entries") + "](}(" + text_op("x") + "h\x00"s + text_op("5") + "}" +
                      text_op("desc") + text_op("a description that is long enough") + "ssu";
  for (int i = 0; i < 1000; ++i)
    bytes += "}(" + text_op("profiling_name") + text_op("nccl:overwrites_what_was_freed") + "u";
  const Result<FrDump> dump = from_pickle(bytes + "eu.");
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  ASSERT_EQ(dump->groups.size(), 1u);
  EXPECT_EQ(dump->groups[0].key, "5");
  EXPECT_EQ(dump->groups[0].desc, "a description that is long enough");
  EXPECT_EQ(dump->entry_count, 1001u);
}

TEST(Pickle, MemoryDoesNotGrowWithTheEntries) {
  FrDump many = sample_dump();
  for (int64_t i = 0; i < 50'000; ++i) many.entries.push_back(sample_entry(i));
  FrLimits limits;
  limits.memory = size_t{256} << 10;
  uint64_t seen = 0;
  const FrSink count = [&](FrEntry&) -> Status { return ++seen, Done{}; };
  const Result<FrDump> dump = from_pickle(dump_to_pickle(many), limits, count);
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  EXPECT_EQ(seen, many.entries.size());
  EXPECT_EQ(dump->entry_count, many.entries.size());
  EXPECT_TRUE(dump->entries.empty());
}

TEST(Pickle, ASinkCanStopTheReading) {
  const FrSink stop = [](FrEntry& e) -> Status {
    return e.record_id == 1 ? Status(refused("enough")) : Done{};
  };
  const Result<FrDump> dump = from_pickle(dump_to_pickle(sample_dump()), {}, stop);
  ASSERT_FALSE(dump.ok());
  EXPECT_EQ(dump.error().message, "enough");
}

TEST(Pickle, SaysWhatStandsBehindTheEnd) {
  const Result<FrDump> dump = from_pickle(dump_to_pickle(sample_dump()) + "more");
  ASSERT_TRUE(dump.ok());
  ASSERT_EQ(dump->notes.size(), 1u);
  EXPECT_THAT(dump->notes[0], HasSubstr("behind the end"));
}

TEST(Pickle, TextsThatAreNoUtf8BecomePrintable) {
  EXPECT_EQ(read_value("U\x04"
                       "a\xff\n\x7f"s),
            "a???");
}

}  // namespace
}  // namespace rankfault::testing
