// yaml_tree_test: values keep their places. YAML features that a scenario never needs are refused.
#include "harness/scenario/yaml_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/scenario/value.h"

namespace rankfault {
namespace {

std::string refusal(const std::string& text) {
  const Result<Value> tree = read_yaml(text, "f");
  return tree.ok() ? "accepted" : tree.error().to_string();
}

TEST(YamlTree, ResolvesPlainScalarsAndOnlyThem) {
  const Result<Value> tree = read_yaml("[1, -2, 1.5, true, 'true', yes, on, ~, text, '7', 0x10, 1e3]", "f");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(to_json(*tree).dump(), R"([1,-2,1.5,true,"true","yes","on",null,"text","7","0x10",1000.0])");
}

TEST(YamlTree, KnowsWhereEverythingStands) {
  const Result<Value> tree = read_yaml("a: 1\nb:\n  c: [x, {d: y}]\n", "f");
  ASSERT_TRUE(tree.ok());
  const Value* c = tree->find("b")->find("c");
  EXPECT_EQ(c->key.to_string(), "f:3:3");
  EXPECT_EQ(c->pos.to_string(), "f:3:6");
  const Value* d = (*c->list())[1].find("d");
  EXPECT_EQ(d->key.to_string(), "f:3:11");
  EXPECT_EQ(d->pos.to_string(), "f:3:14");
}

TEST(YamlTree, KeepsScalarsAsTheyWereWritten) {
  EXPECT_EQ(read_yaml("1.50", "f")->text, "1.50");
  EXPECT_EQ(read_yaml("007", "f")->text, "007");
}

TEST(YamlTree, RefusesWhatNoScenarioNeeds) {
  EXPECT_EQ(refusal("a: 1\na: 2\n"), "f:2:1: duplicate key \"a\" (first in line 1)");
  EXPECT_EQ(refusal("a: &x [1]\n"), "f:1:4: anchors are not part of the format: write the value out");
  EXPECT_EQ(refusal("[a, b]: 1\n"), "f:1:1: a key must be a word");
  EXPECT_EQ(refusal("a: !!python/object x\n"),
            "f:1:4: the tag \"tag:yaml.org,2002:python/object\" is not part of the format");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"),
            "f:3:1: the file has a second document: write one scenario per file");
  EXPECT_EQ(refusal(""), "f:1:1: the file is empty");
  EXPECT_NE(refusal("a: [1, 2\nb: 3\n").find("f:"), std::string::npos);
}

TEST(YamlTree, RefusesAliasBombsBeforeTheyGrow) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'j'; ++c)
    bomb += fmt::format("{0}: &{0} [*{1}, *{1}, *{1}]\n", c, static_cast<char>(c - 1));
  EXPECT_EQ(refusal(bomb), "f:1:4: anchors are not part of the format: write the value out");
  EXPECT_EQ(refusal("path: *.tmp\n"),
            "f:1:7: YAML reads a word that begins with * as an alias, and a scenario has no aliases: quote "
            "it, as '*.tmp'");
}

}  // namespace
}  // namespace rankfault
