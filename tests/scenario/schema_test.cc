// schema_test: the shipped schema equals the generated one, and judges a file as the parser does.
#include "harness/scenario/schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "documents.h"
#include "harness/commands/scenario_files.h"
#include "harness/scenario/value.h"
#include "harness/scenario/yaml_tree.h"
#include "schema_check.h"

namespace rankfault {
namespace {

std::string source_dir() {
  const char* dir = std::getenv("RANKFAULT_SOURCE_DIR");
  return dir ? dir : "";
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string schema_says(const std::string& text) {
  const Result<Value> tree = read_yaml(text, "f");
  return tree.ok() ? schema_mistake(scenario_schema(), to_json(*tree)) : tree.error().message;
}

TEST(Schema, ShippedIsGenerated) {
  if (source_dir().empty()) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  EXPECT_EQ(read(source_dir() + "/scenarios/scenario.v1.schema.json"), scenario_schema().dump(2) + "\n")
      << "write it anew: rankfault list schema > scenarios/scenario.v1.schema.json";
}

TEST(Schema, AcceptsEveryShippedScenario) {
  if (source_dir().empty()) GTEST_SKIP() << "RANKFAULT_SOURCE_DIR is not set (run under ctest)";
  const Result<std::vector<std::string>> files = find_scenario_files({source_dir() + "/scenarios"});
  ASSERT_TRUE(files.ok());
  for (const std::string& file : *files) EXPECT_EQ(schema_says(read(file)), "") << file;
}

struct Pair {
  const char* from;
  const char* to;
  bool good;
};

// Changes to the good document that only its shape decides. Parser and schema must agree on each.
const Pair kPairs[] = {
    {"name: good", "name: good", true},
    {"version: 1", "version: 2", false},
    {"version: 1\n", "", false},
    {"name: good\n", "", false},
    {"summary:", "sumary:", false},
    {"ranks: 4", "ranks: 0", false},
    {"ranks: 4", "ranks: four", false},
    {"ranks: 4", "ranks: 99999", false},
    {"launcher: local", "launcher: kubernetes", false},
    {"launcher: local", "launcher: mpirun", true},
    {"launcher: local", "launcher: command", true},
    {"[prog, --steps=3]", "prog", false},
    {"[prog, --steps=3]", "[]", false},
    {"[prog, --steps=3]", "[prog, 3]", true},
    {"wall: 90s", "wall: 90", false},
    {"wall: 90s", "wall: 1.5m", true},
    {"wall: 90s", "wal: 90s", false},
    {"wall: 90s", "wall: 90s, slow_after: 1s, hung_after: 5s", true},
    {"wall: 90s", "wall: 90s, hung_after: 5", false},
    {"limits: {wall: 90s}", "restarts: -1", false},
    {"limits: {wall: 90s}", "restarts: 2", true},
    {"limits: {wall: 90s}", "restarts: 1001", false},
    {"limits: {wall: 90s}", "needs: [mpy]", false},
    {"limits: {wall: 90s}", "needs: [mpi, torch]", true},
    {"limits: {wall: 90s}", "needs: [\"nccl >= 2.27\", nccl < 2.30.1]", true},
    {"limits: {wall: 90s}", "needs: [nccl > 2.27]", false},
    {"limits: {wall: 90s}", "cuda: double", true},
    {"limits: {wall: 90s}", "cuda: fake", false},
    {"limits: {wall: 90s}", "env: {A: 1, B: c}", true},
    {"limits: {wall: 90s}", "env: {A: [1]}", false},
    {"kind: rank_kill", "kind: rank_killed", false},
    {"    ranks: [2]\n", "", false},
    {"ranks: [2]", "ranks: 2", true},
    {"ranks: [2]", "ranks: 1-2", true},
    {"ranks: [2]", "ranks: [1-2, 3]", true},
    {"ranks: [2]", "ranks: []", false},
    {"ranks: [2]", "ranks: [x]", false},
    {"nth: 3", "nth: 0", false},
    {"nth: 3", "nht: 3", false},
    {"nth: 3", "edge: after", true},
    {"nth: 3", "edge: between", false},
    {"nth: 3", "library: nccl", true},
    {"nth: 3", "library: ncll", false},
    {"comm: world", "comm: {size: 4}", true},
    {"comm: world", "comm: {sise: 4}", false},
    {"op: all_reduce, comm", "op: allreduce, comm", false},
    {"    ranks: [2]", "    ranks: [2]\n    signal: TERM", true},
    {"    ranks: [2]", "    ranks: [2]\n    sgnal: TERM", false},
    {"    ranks: [2]", "    ranks: [2]\n    times: unlimited", true},
    {"    ranks: [2]", "    ranks: [2]\n    times: 0", false},
    {"    ranks: [2]", "    ranks: [2]\n    optional: maybe", false},
    {"- unblocked", "- unbloked", false},
    {"within: 12s", "within: soon", false},
    {"- left_nothing: [processes, shm, sockets, temp_files]", "- left_nothing", true},
    {"- left_nothing: [processes, shm, sockets, temp_files]", "- left_nothing: {kinds: [shm]}", true},
    {"- left_nothing: [processes, shm, sockets, temp_files]", "- left_nothing: [shn]", false},
    {"- left_nothing: [processes, shm, sockets, temp_files]", "- left_nothing:", true},
    {"expect:", "must_be: void\nexpect:", true},
    {"expect:", "must_be: maybe\nexpect:", false},
    {"expect:", "must_be: {fail: blamed}\nexpect:", true},
    {"expect:", "must_be: {fial: blamed}\nexpect:", false},
    {"expect:", "reference: fault_free\nexpect:", true},
    {"expect:", "reference: other\nexpect:", false},
    {"expect:", "seed: -1\nexpect:", false},
    {"expect:", "seed: 5\nexpect:", true},
    {"expect:", "teeth: [{args: [--off], must_fail: blamed}]\nexpect:", true},
    {"expect:", "teeth: [{args: [--off]}]\nexpect:", false},
    {"expect:", "variants: [{id: a}, {id: b, args: [x], env: {A: b}, ranks: 3, times: 2}]\nexpect:", true},
    {"expect:", "variants: [{id: a}]\nexpect:", false},
    {"expect:", "variants: [{id: a}, {args: [x]}]\nexpect:", false},
    {"expect:", "variants: [{id: a}, {id: b, ranks: 0}]\nexpect:", false},
    {"expect:", "variants: [{id: a}, {id: b, times: 0}]\nexpect:", false},
};

TEST(Schema, AgreesWithTheParser) {
  for (const Pair& pair : kPairs) {
    const std::string text = with(pair.from, pair.to);
    EXPECT_EQ(mistake(text).empty(), pair.good)
        << pair.from << " -> " << pair.to << ": parser: " << mistake(text);
    EXPECT_EQ(schema_says(text).empty(), pair.good)
        << pair.from << " -> " << pair.to << ": schema: " << schema_says(text);
  }
}

}  // namespace
}  // namespace rankfault
