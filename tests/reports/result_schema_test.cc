// result_schema_test: the shipped schema of results against what the program writes.
#include "reports/status_json.h"
#include "tests/reports/runs.h"
#include "tests/scenario/schema_check.h"

namespace rankfault::test {
namespace {

Json closed_schema() {
  Json schema = Json::parse(source_file("docs/reference/result.v1.schema.json"), nullptr, false);
  EXPECT_FALSE(schema.is_discarded());
  return closed(std::move(schema));
}

std::string mistake_in(const RunReport& report) {
  // As a reader gets it: bytes that are no text are replaced.
  return schema_mistake(closed_schema(), Json::parse(written("json", {report})));
}

TEST_F(Reports, ResultsFollowTheShippedSchema) {
  reports_[0].cuda_double = "2.29.7";
  killed_.facts().findings.unsafe = {finding("unsafe", {0}, Confidence::kStrict)};
  killed_.facts().findings.remarks = {finding("type_remark", {0}, Confidence::kRemark)};
  killed_.facts().findings.all[0].handled = killed_.facts().findings.all[0].withdrawn = true;
  killed_.facts().findings.all[0].since = ms(1);
  killed_.facts().findings.all[0].claimed = {{0, 0, 1}};
  killed_.facts().findings.all[0].assumes = {{"full_view", true, ""}};
  for (const RunReport& report : reports_) EXPECT_EQ(mistake_in(report), "");
  RunReport compared = reports_[0];
  compared.facts = nullptr;
  compared.compared = ComparedRuns{{{"two", 1, 2, Verdict::kPass, 1.5, "all passed"}}, "/runs/a", {}};
  EXPECT_EQ(mistake_in(compared), "");
}

TEST(ResultSchema, BadInputFollowsIt) {
  Facts hostile, cut, none(0), large(1024);
  for (const RunReport& report :
       {hostile_report(hostile), cut_report(cut), report_of(none, "", "nothing"), large_report(large)})
    EXPECT_EQ(mistake_in(report), "");
}

TEST(ResultSchema, RefusesWhatIsNotAResult) {
  const Json schema = closed_schema();
  Facts facts;
  Json result = result_json(report_of(facts, "a.yaml", "a"));
  EXPECT_EQ(schema_mistake(schema, result), "");
  for (const auto& [key, value] : {std::pair<const char*, Json>("verdict", "passed"),
                                   {"seed", "seven"},
                                   {"findings", {{{"kind", "x"}}}},
                                   {"expectations", {1}},
                                   {"unknown_key", 1}}) {
    Json wrong = result;
    wrong[key] = value;
    EXPECT_NE(schema_mistake(schema, wrong), "") << key;
  }
}

TEST_F(Reports, SeveralResultsAreOneObject) {
  const Json schema = closed_schema(), all = Json::parse(written("json", reports_));
  EXPECT_EQ(all["schema"], "rankfault.results.v1");
  ASSERT_EQ(all["runs"].size(), 3u);
  for (const Json& run : all["runs"]) EXPECT_EQ(schema_mistake(schema, run), "");
}

// The checker knows no references to other files.
Json status_schema() {
  Json schema = Json::parse(source_file("docs/reference/status.v1.schema.json"));
  schema["$defs"] = Json::parse(source_file("docs/reference/result.v1.schema.json"))["$defs"];
  Json& findings = schema["properties"]["findings"]["items"]["$ref"];
  EXPECT_EQ(findings, "result.v1.schema.json#/$defs/finding");
  findings = "#/$defs/finding";
  return closed(std::move(schema));
}

TEST(StatusSchema, StatusFollowsIt) {
  const std::vector<RankPlace> places{{{0, 2}, "4", "inside", 2s, "all_reduce on world, call 3"},
                                      {{1}, "", "not started", -1ns, ""}};
  Findings findings;
  findings.all = {finding("dead_rank", {1}, Confidence::kProven)};
  for (const char* state : {"live", "over", "dead"})
    EXPECT_EQ(schema_mistake(status_schema(), status_json(state, places, findings)), "");
  Json wrong = status_json("live", places, findings);
  wrong["ranks"][0]["since"] = 2;
  EXPECT_NE(schema_mistake(status_schema(), wrong), "");
}

}  // namespace
}  // namespace rankfault::test
