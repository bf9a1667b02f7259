// state_text_test: states, names and strings of other processes, read back from text.
#include <gtest/gtest.h>

#include "harness/base/printable.h"
#include "harness/observe/record_names.h"
#include "harness/observe/timeline.h"

namespace rankfault::testing {
namespace {

TEST(StateJson, GarbageIsAnErrorNotACrash) {
  for (const char* text : {"{}", "[]", "null", "{\"begin\":\"x\"}",
                           "{\"begin\":1,\"look\":2,\"world_size\":1,\"attempt\":0,"
                           "\"consistent\":true,\"job_over\":false,\"expected\":[[1]],\"processes\":[{}]}"})
    EXPECT_FALSE(state_from_json(Json::parse(text)).ok()) << text;
}

TEST(Printable, KeepsUtf8AndReplacesTheRest) {
  const auto p = [](const std::string& s) { return printable(s.data(), s.size()); };
  EXPECT_EQ(p("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(p("a\xff\x01"), "a??");
  EXPECT_EQ(p("\xe0\x80\x80"), "???");
  EXPECT_EQ(p("\xc3"), "?");
}

TEST(ProcessNames, ReadBackWhatTheyWrite) {
  const ProcessId id{0xdeadbeefcafe1234, 4026531836, 77, 123456, 2};
  EXPECT_EQ(process_id_from(id.to_string()), id);
  EXPECT_FALSE(process_id_from("x.1.2.3.4"));
  EXPECT_FALSE(process_id_from(id.to_string() + "x"));
}

}  // namespace
}  // namespace rankfault::testing
