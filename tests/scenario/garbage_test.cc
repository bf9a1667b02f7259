// garbage_test: for any bytes the parser returns, and reports a place and a sentence.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "documents.h"
#include "harness/scenario/yaml_tree.h"

namespace rankfault {
namespace {

TEST(Garbage, AFileOfTenMegabytesIsRefusedUnread) {
  const auto path =
      std::filesystem::temp_directory_path() / ("rf-large-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << std::string(10'000'000, 'x');
  const Result<Scenario> scenario = load_scenario(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(scenario.ok());
  EXPECT_EQ(scenario.error().to_string(),
            path.string() + ": the file is too large for a scenario: 10000000 bytes");
}

TEST(Garbage, FilesThatAreNoneAreRefusedWithTheirPath) {
  EXPECT_EQ(load_scenario("/nowhere/x.yaml").error().to_string(),
            "/nowhere/x.yaml: cannot open: No such file or directory");
  EXPECT_EQ(load_scenario("/tmp").error().to_string(), "/tmp: not a file");
}

TEST(Garbage, BytesThatAreNoTextAreNamed) {
  EXPECT_EQ(read_yaml(std::string("a: b\nc: \0d", 10), "f").error().to_string(),
            "f:2:4: not a text file: byte 0x00 at offset 8");
  EXPECT_EQ(read_yaml("a: \xff\xfe", "f").error().to_string(),
            "f:1:4: not a text file: byte 0xff at offset 3");
  EXPECT_TRUE(read_yaml("a: \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "f").ok());
}

TEST(Garbage, DeepNestingIsRefused) {
  for (const auto& [open, close] : {std::pair{"[", "]"}, std::pair{"{a: ", "}"}, std::pair{"- ", ""}}) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += open;
    text += "x";
    for (int i = 0; i < 10'000; ++i) text += close;
    const Result<Value> tree = read_yaml(text, "f");
    ASSERT_FALSE(tree.ok());
    EXPECT_EQ(tree.error().where.line, 1);
  }
}

TEST(Garbage, RandomBytesNeverPassAndNeverHang) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 300, ' ');
    for (char& c : text) c = static_cast<char>(random());
    EXPECT_FALSE(parse_scenario(text, "f").ok());
  }
}

// Bytes of a good file are changed, dropped and doubled. The parser may accept or refuse them, but later
// stages must be able to read what it accepts.
TEST(Garbage, DamagedFilesAreRefusedOrWhole) {
  std::mt19937 random(2);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = kGood;
    for (int change = 0; change < 3; ++change) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = "{}[]:,#&*!|>'\"%@`- \n0azA"[random() % 25];
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 12));
      }
    }
    const std::string said = mistake(text);
    accepted += said.empty();
    if (!said.empty()) {
      EXPECT_EQ(said.rfind("f.yaml", 0), 0u) << said;
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(Garbage, AMegabyteOfOrdinaryYamlIsReadInTime) {
  std::string text = "version: 1\nfaults:\n";
  while (text.size() < kLargestScenarioBytes - 100)
    text += "  - {kind: rank_kill, ranks: [1], at: {op: barrier}}\n";
  const ParsedScenario parsed = parse_all(text, "f");  // naming 20,000 faults pairwise took minutes
  ASSERT_FALSE(parsed.errors.empty());
  EXPECT_NE(parsed.errors[2].to_string().find("faults are too many: a scenario can have at most 256"),
            std::string::npos)
      << parsed.errors[2].to_string();
}

}  // namespace
}  // namespace rankfault
