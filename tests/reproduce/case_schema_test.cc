// case: its file follows the shipped schema.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/file_text.h"
#include "harness/reproduce/fold.h"
#include "tests/reproduce/cases.h"
#include "tests/scenario/schema_check.h"

namespace rankfault::test {
namespace {

Json schema() {
  return closed(Json::parse(text_of_file(std::string(std::getenv("RANKFAULT_SOURCE_DIR")) +
                                         "/docs/reference/case.v1.schema.json")));
}

Case whole_case() {
  Case c = job_of(20);
  c.evidence = {{"log", "job.log", "00000000deadbeef", 12}};
  c.state = {.kind = "call_mismatch", .op = "broadcast", .group = "world", .field = "count", .culprits = {3}};
  c.state.sides = {{3}, {4, 5}};
  c.state.waiters = {4, 5};
  c.state.seq = 7;
  c.state.kind_is_guessed = true;
  c.limit_ms = 600000;
  c.known = {"a"}, c.guessed = {"b"}, c.questions = {"c"};
  all_make(c, {3, 4},
           {.group = 0,
            .op = "broadcast",
            .dtype = "float32",
            .reduce_op = "sum",
            .count = 3,
            .peer = 4,
            .seq = 7,
            .open = true,
            .pending = true,
            .where = "a.py:3"});
  c.ranks[3].state = RankState::kEnded;
  c.ranks[3].signal = 9;
  c.ranks[5].code = 1;
  return c;
}

TEST(CaseSchema, ACaseFollowsIt) {
  EXPECT_EQ(schema_mistake(schema(), to_json(whole_case())), "");
  EXPECT_EQ(schema_mistake(schema(), to_json(folded(whole_case(), {0, 3, 4}))), "");
  EXPECT_EQ(schema_mistake(schema(), to_json(Case{})), "");
}

TEST(CaseSchema, RefusesWhatIsNoCase) {
  for (const auto& [key, value] :
       {std::pair<const char*, Json>("world_size", "many"), {"state", 1}, {"unknown_key", 1}}) {
    Json wrong = to_json(whole_case());
    wrong[key] = value;
    EXPECT_NE(schema_mistake(schema(), wrong), "") << key;
  }
}

}  // namespace
}  // namespace rankfault::test
