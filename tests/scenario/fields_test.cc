// fields_test: one table reads a map, writes it and describes it.
#include "harness/scenario/fields.h"

#include <gmock/gmock.h>

#include "harness/scenario/yaml_tree.h"

namespace rankfault {

enum class Colour { kRed, kBlue };

struct Lid {
  bool open = false;
};
struct Box {
  std::string label;
  int count = 1;
  std::optional<int> weight;
  Colour colour = Colour::kRed;
  std::vector<std::string> words;
  Lid lid;
};

static const Fields<Lid>& fields_of(const Lid*) {
  static const Fields<Lid> fields{{"open", &Lid::open, "whether it is open"}};
  return fields;
}

static void check_weight(const Box& box, const Key& key, const Value& value, Problems& problems) {
  if (*box.weight < box.count) problems.add(key.name + " is less than count", value.pos);
}

static const Fields<Box>& fields_of(const Box*) {
  static const Fields<Box> fields{
      {"label", &Box::label, "what is written on it", {.needed = true}},
      {"count", &Box::count, "how many", {.least = 1, .most = 9}},
      {"weight", &Box::weight, "its weight", {}, check_weight},
      {"colour", &Box::colour, {{"red", Colour::kRed}, {"blue", Colour::kBlue}}, "its colour"},
      {"words", &Box::words, "some words", {.not_empty = "write one"}},
      {"lid", &Box::lid, "its lid"},
  };
  return fields;
}

namespace {

using testing::ElementsAre;

class FieldsTest : public testing::Test {
 protected:
  Box read(const std::string& text) {
    Box box;
    Problems problems;
    read_map(*read_yaml(text, "f"), "box", box, problems);
    for (const Error& error : problems.all()) mistakes.push_back(error.to_string());
    return box;
  }
  std::string rewritten(const std::string& text) { return to_json(write_map(read(text), {})).dump(); }

  std::vector<std::string> mistakes;
};

TEST_F(FieldsTest, SetTheMembers) {
  const Box box = read("{label: x, count: 2, weight: 3, colour: blue, words: [a, 1], lid: {open: true}}");
  EXPECT_THAT(mistakes, ElementsAre());
  EXPECT_EQ(box.label, "x");
  EXPECT_EQ(box.count, 2);
  EXPECT_EQ(box.weight, 3);
  EXPECT_EQ(box.colour, Colour::kBlue);
  EXPECT_THAT(box.words, ElementsAre("a", "1"));
  EXPECT_TRUE(box.lid.open);
}

TEST_F(FieldsTest, ReportEachMistakeAtItsPlace) {
  read("{count: 10, weight: x, colour: rde, words: [], lid: {opn: true}}");
  EXPECT_THAT(mistakes,
              ElementsAre("f:1:1: box needs \"label\"", "f:1:9: \"count\" must be at most 9, not 10",
                          "f:1:21: \"weight\" must be a whole number, not \"x\"",
                          "f:1:32: \"colour\" must be red or blue, not \"rde\" (did you mean \"red\"?)",
                          "f:1:44: \"words\" is empty: write one",
                          "f:1:54: unknown key \"opn\" in lid (did you mean \"open\"?)"));
}

TEST_F(FieldsTest, ACheckSeesTheRowsAbove) {
  read("{label: x, count: 5, weight: 4}");
  EXPECT_THAT(mistakes, ElementsAre("f:1:30: weight is less than count"));
}

TEST_F(FieldsTest, WriteWhatIsNotDefault) {
  EXPECT_EQ(rewritten("{label: '', count: 1, colour: red, words: [], lid: {}}"), R"({"label":""})");
  EXPECT_EQ(rewritten("{label: x, weight: 0, count: 2, lid: {open: true}}"),
            R"({"label":"x","count":2,"weight":0,"lid":{"open":true}})");
}

TEST_F(FieldsTest, DescribeEachKey) {
  const Json shape = shape_of_map(keys_of<Box>());
  EXPECT_EQ(shape["required"], Json({"label"}));
  EXPECT_EQ(shape["properties"]["count"].dump(),
            R"({"type":"integer","minimum":1,"maximum":9,"description":"how many"})");
  EXPECT_EQ(shape["properties"]["colour"]["enum"], Json({"red", "blue"}));
  EXPECT_EQ(keys_of<Box>().back().below.front().name, "open");
}

}  // namespace
}  // namespace rankfault
