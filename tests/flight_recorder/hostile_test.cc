// hostile_test: bytes that no correct program writes are refused quickly, with a place and a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/flight_recorder/pickle_opcodes.h"
#include "harness/flight_recorder/write_dump.h"
#include "samples.h"

namespace rankfault::testing {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): byte strings with zeros
using ::testing::HasSubstr;

TEST(Hostile, EveryOpcodeThatIsNotPlainDataIsNamedWithItsPlace) {
  int refused = 0;
  for (int code = 0; code < 256; ++code) {
    const Opcode& op = kOpcodes[static_cast<size_t>(code)];
    if (op.name && !op.refused) continue;
    ++refused;
    const std::string said = refusal("\x80\x02}"s + static_cast<char>(code) + "os\nsystem\n(S'id'\ntR.");
    EXPECT_THAT(said, HasSubstr("byte 3: ")) << code;
    EXPECT_THAT(said, HasSubstr(op.name ? op.name : "is not a pickle opcode")) << code;
  }
  EXPECT_EQ(refused, 256 - 50);
}

TEST(Hostile, TheClassicsAreRefused) {
  EXPECT_EQ(refusal("cos\nsystem\n(S'id'\ntR."),
            "byte 0: GLOBAL (0x63) is refused: it would import a name; a dump holds plain data only");
  EXPECT_THAT(refusal("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R."s),
              HasSubstr("byte 14: STACK_GLOBAL"));
  EXPECT_THAT(refusal("}R."), HasSubstr("REDUCE (0x52) is refused: it would call a function"));
  EXPECT_THAT(refusal("}P1\n."), HasSubstr("PERSID"));
}

TEST(Hostile, NothingIsHandedOverBeforeTheWholePickleWasLookedAt) {
  std::string bytes = dump_to_pickle(sample_dump());
  bytes.insert(bytes.size() - 2, "cos\nsystem\n");
  const FrSink sink = [](FrEntry&) -> Status { return ADD_FAILURE(), Done{}; };
  EXPECT_FALSE(from_pickle(bytes, {}, sink).ok());
}

TEST(Hostile, LengthsAreRefusedBeforeAnythingIsAllocated) {
  const std::string e18 = "\x00\x00\x00\x00\x00\x00\x00\x10"s;  // 2^60
  for (const std::string& op :
       {"\x8d"s + e18, "\x8e"s + e18, "\x96"s + e18, "X\xff\xff\xff\xff"s, "T\xff\xff\xff\x7f"s,
        "B\xff\xff\xff\xff"s, "\x8b\xff\xff\xff\x7f"s, "\x8b\xff\xff\xff\xff"s})
    EXPECT_THAT(refusal("\x80\x04}" + op + "x."), HasSubstr("at most"))
        << kOpcodes[static_cast<uint8_t>(op[0])].name;
  EXPECT_THAT(refusal("\x80\x04\x95"s + e18 + "}."), HasSubstr("FRAME"));
  EXPECT_THAT(refusal("\x80\x09}."), HasSubstr("protocol 9"));
  EXPECT_THAT(refusal("}r\xff\xff\xff\xff."s), HasSubstr("memo slot 4294967295 is too high after 0 uses"));
  EXPECT_THAT(refusal("}p99999999999999999999\n."), HasSubstr("memo number"));
  EXPECT_THAT(refusal("X\xff\xff\xff\x00no"s), HasSubstr("ends at byte 7"));
}

TEST(Hostile, AStackThatDoesNotHoldWhatIsAskedForIsRefused) {
  for (const std::string_view bytes : {".",
                                       "",
                                       "a.",
                                       "e.",
                                       "s.",
                                       "u.",
                                       "t.",
                                       "l.",
                                       "d.",
                                       "\x85.",
                                       "\x87.",
                                       "\x90.",
                                       "\x91.",
                                       "}a.",
                                       "}e.",
                                       "]Ka.",
                                       "](.",
                                       "(.",
                                       "]](e",
                                       "}(K\x01u.",
                                       "}K\x01s.",
                                       "(K\x01"
                                       "d.",
                                       "h\x01.",
                                       "}q\x00h\x01.",
                                       "q\x00.",
                                       "(q\x00.",
                                       "]K\x01K\x02s.",
                                       "}K\x01"
                                       "a.",
                                       "NK\x01"
                                       "a.",
                                       "(K\x01K\x02e.",
                                       "}}.",
                                       "g\n.",
                                       "gx\n.",
                                       "I\n."})
    EXPECT_NE(refusal(bytes), "") << ::testing::PrintToString(bytes);
}

TEST(Hostile, MemoReadsBeforeTheWriteAreRefused) {
  EXPECT_THAT(refusal("}h\x00."s), HasSubstr("memo slot 0 is read before it is written"));
  EXPECT_THAT(refusal("}(K\x01h\x05K\x02N]r\x05\x00\x00\x00u."s), HasSubstr("memo slot 5 is read before"));
}

TEST(Hostile, ListsThatHoldListsAThousandfoldAreRefused) {
  // each level holds the level below it a hundred times
  std::string bomb =
      "](K\x01"
      "eq\x00"s;
  for (int level = 0; level < 20; ++level) {
    bomb += "](";
    for (int i = 0; i < 100; ++i) bomb += "h"s + static_cast<char>(level);
    bomb += "eq"s + static_cast<char>(level + 1);
  }
  for (const std::string_view field : {"input_sizes", "frames", "input_dtypes", "process_group", "state"})
    EXPECT_NE(refusal(dump_of_entry(field, "(" + bomb + "tq\xf0")), "") << field;
  EXPECT_EQ(refusal(dump_of_entry("not_known", "(" + bomb + "t")), "") << "nobody follows it";
}

TEST(Hostile, AShapeSharedAHundredThousandTimesIsRefused) {
  std::string shape = "](";
  for (int i = 0; i < 100'000; ++i) shape += "K\x01";
  std::string value = "](" + shape + "eq\x00"s;
  for (int i = 0; i < 100'000; ++i) value += "h\x00"s;
  EXPECT_THAT(refusal(dump_of_entry("input_sizes", value + "e")), HasSubstr("makes it grow without bound"));
  std::string entries = "](}(" + text_op("input_sizes") + "](" + shape + "eeuq\x01"s;
  for (int i = 0; i < 100'000; ++i) entries += "h\x01"s;
  EXPECT_THAT(refusal(dump_with("entries", entries + "e")), HasSubstr("makes it grow without bound"));
  std::string stacks = "](}(" + text_op("frames") + "](";
  for (int i = 0; i < 100'000; ++i) stacks += i == 0 ? "}q\x01"s : "h\x01"s;
  stacks += "eq\x02u"s;
  for (int i = 0; i < 50'000; ++i) stacks += "}(" + text_op("frames") + "h\x02u"s;
  EXPECT_THAT(refusal(dump_with("entries", stacks + "e")), HasSubstr("makes it grow without bound"));
}

TEST(Hostile, ContainersThatHoldThemselvesAreHarmless) {
  EXPECT_NE(refusal(dump_of_entry("input_sizes",
                                  "]q\x00(h\x00"
                                  "e"s)),
            "");
  EXPECT_NE(refusal(dump_of_entry("frames", "}q\x00(K\x01h\x00u"s)), "");
  EXPECT_EQ(refusal("\x80\x02}q\x00("s + text_op("version") + text_op("2.9") + text_op("x") + "h\x00u."s),
            "");
  // the outermost dict is its own entry: one entry without content
  EXPECT_EQ(refusal("\x80\x02}q\x00("s + text_op("version") + text_op("2.9") + text_op("entries") +
                    "](h\x00"
                    "eu."s),
            "");
}

TEST(Hostile, MemoryIsBounded) {
  FrLimits limits;
  limits.memory = size_t{1} << 20;
  EXPECT_NE(refusal("\x80\x02](" + std::string(500'000, 'N') + "e.", limits), "");
  EXPECT_NE(refusal("\x80\x02" + std::string(500'000, '}') + ".", limits), "");
  EXPECT_NE(refusal("\x80\x02" + std::string(500'000, '(') + ".", limits), "");
  std::string texts = "\x80\x02](";
  for (int i = 0; i < 300; ++i) texts += text_op(std::string(10'000, 'x'));
  EXPECT_NE(refusal(texts + "e.", limits), "");
  limits.bytes = 1000;
  EXPECT_THAT(refusal(dump_with("x", text_op(std::string(5000, 'x'))), limits),
              HasSubstr("more than 1000 bytes"));
}

TEST(Hostile, APickleCutAnywhereIsAnError) {
  const std::string bytes = dump_to_pickle(sample_dump());
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THAT(refusal(bytes.substr(0, length)), HasSubstr("ends at byte " + std::to_string(length)));
  EXPECT_EQ(refusal(bytes), "");
}

TEST(Hostile, JsonCutAnywhereIsAnError) {
  const std::string text = dump_to_json(sample_dump());
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(from_json(text.substr(0, length)).ok()) << length;
  EXPECT_TRUE(from_json(text).ok());
}

TEST(Hostile, WhatIsNoDumpSaysSo) {
  EXPECT_THAT(refusal("\x80\x02]."), HasSubstr("it is a list, and a dump is a dict"));
  EXPECT_THAT(refusal("\x80\x02}."), HasSubstr("no `version`"));
  EXPECT_THAT(refusal("\x80\x02}(" + text_op("version") + text_op("3.0") + "u."),
              HasSubstr("dump version \"3.0\""));
  EXPECT_THAT(refusal(dump_with("entries", "}")), HasSubstr("entries: a dict where a list is expected"));
  EXPECT_THAT(refusal(dump_with("entries", "](Ne")), HasSubstr("entry 0"));
  EXPECT_THAT(refusal(dump_of_entry("record_id", text_op("x"))),
              HasSubstr("record_id: a string where an integer"));
  EXPECT_THAT(refusal(dump_with("entries", "]" + text_op("entries") + "](}e")),
              HasSubstr("a second list of entries"));
}

}  // namespace
}  // namespace rankfault::testing
