// params_test: typed parameters, rank sets and signals as users write them.
#include "harness/scenario/params.h"

#include <gmock/gmock.h>
#include <signal.h>

#include "harness/scenario/yaml_tree.h"

namespace rankfault {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Value yaml(const std::string& text) {
  Result<Value> tree = read_yaml(text, "f");
  EXPECT_TRUE(tree.ok()) << text;
  return *tree;
}

TEST(RankSets, AreWordsRanksRangesAndLists) {
  EXPECT_EQ(read_rank_set(yaml("all"))->kind, RankSet::Kind::kAll);
  EXPECT_EQ(read_rank_set(yaml("victims"))->kind, RankSet::Kind::kVictims);
  EXPECT_EQ(read_rank_set(yaml("others"))->kind, RankSet::Kind::kOthers);
  EXPECT_EQ(read_rank_set(yaml("survivors"))->kind, RankSet::Kind::kSurvivors);
  EXPECT_THAT(read_rank_set(yaml("3"))->ranks, ElementsAre(3));
  EXPECT_THAT(read_rank_set(yaml("8-11"))->ranks, ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(read_rank_set(yaml("[5, 1, 2-3, 1]"))->ranks, ElementsAre(1, 2, 3, 5));
}

TEST(RankSets, RefuseNobodyAndNonsense) {
  for (const char* text : {"[]", "3-1", "-1", "[a]", "1.5", "0-99999999999", "{a: 1}", "~"})
    EXPECT_FALSE(read_rank_set(yaml(text)).ok()) << text;
}

TEST(RankSets, ResolveAgainstTheVictims) {
  EXPECT_THAT(resolve(*read_rank_set(yaml("all")), 3, {1}), ElementsAre(0, 1, 2));
  EXPECT_THAT(resolve(*read_rank_set(yaml("victims")), 3, {1}), ElementsAre(1));
  EXPECT_THAT(resolve(*read_rank_set(yaml("others")), 3, {1}), ElementsAre(0, 2));
  EXPECT_THAT(resolve(*read_rank_set(yaml("survivors")), 3, {1}), IsEmpty());
}

TEST(Signals, HaveNamesAndNumbers) {
  EXPECT_EQ(*read_signal(yaml("SIGTERM")), SIGTERM);
  EXPECT_EQ(*read_signal(yaml("TERM")), SIGTERM);
  EXPECT_EQ(*read_signal(yaml("15")), SIGTERM);
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(read_signal(yaml("SIGTERMM")).error().to_string(),
            "f:1:1: unknown signal \"SIGTERMM\" (did you mean \"SIGTERM\"?)");
  EXPECT_FALSE(read_signal(yaml("0")).ok());
  EXPECT_FALSE(read_signal(yaml("99")).ok());
}

const std::vector<ParamSpec> kSpecs{{"count", ParamType::kInt, true, "How many."},
                                    {"by", ParamType::kDuration, false, "How long."},
                                    {"form", ParamType::kText, false, "Which.", {"never", "lost"}},
                                    {"as", ParamType::kTextList, false, "As what.", {"timeout", "abort"}},
                                    {"flag", ParamType::kBool, false, "Whether."}};

std::string check(const std::string& text) {
  const Status ok = check_params(yaml(text), kSpecs, "thing");
  return ok.ok() ? "" : ok.error().to_string();
}

TEST(Params, AreCheckedAgainstTheirSpecs) {
  EXPECT_EQ(check("{count: 1, by: 2s, form: lost, as: [timeout], flag: true}"), "");
  EXPECT_EQ(check("{count: 1, as: abort}"), "");
  EXPECT_EQ(check("{}"), "f:1:1: thing needs \"count\": How many.");
  EXPECT_EQ(check("{cuont: 1}"), "f:1:2: unknown key \"cuont\" in thing (did you mean \"count\"?)");
  EXPECT_EQ(check("{count: x}"), "f:1:9: \"count\" of thing must be a whole number, not \"x\"");
  EXPECT_EQ(check("{count: 1, flag: yes}"), "f:1:18: \"flag\" of thing must be true or false, not \"yes\"");
  EXPECT_EQ(check("{count: 1, form: los}"),
            "f:1:18: \"form\" must be one of never, lost, not \"los\" (did you mean \"lost\"?)");
  EXPECT_EQ(check("{count: 1, as: [abort, timout]}"),
            "f:1:24: \"as\" must be one of timeout, abort, not \"timout\" (did you mean \"timeout\"?)");
  EXPECT_EQ(check("[1]"), "f:1:1: thing takes a map of parameters, not a list");
}

}  // namespace
}  // namespace rankfault
