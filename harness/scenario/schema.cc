// schema: the JSON schema of scenarios. Its fixed parts are written here; faults and expectations come from
// the catalogues.
#include "harness/scenario/schema.h"

#include "faults/fault.h"
#include "harness/base/nccl_version.h"
#include "harness/judge/oracle.h"
#include "harness/scenario/op_names.h"
#include "harness/scenario/readers.h"

namespace rankfault {
namespace {

constexpr const char* kDurationPattern = "^[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?(ns|us|ms|s|m|h)$";

Json ref(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }
Json scalar() { return {{"type", {"string", "number", "boolean"}}}; }
Json whole(int64_t least) { return {{"type", "integer"}, {"minimum", least}}; }
Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json map_of(Json values) { return {{"type", "object"}, {"additionalProperties", std::move(values)}}; }
Json pattern(const char* text) { return {{"type", "string"}, {"pattern", text}}; }
Json one_of(const std::vector<std::string>& words) { return {{"enum", words}}; }

Json object(Json properties, std::vector<std::string> required = {}) {
  Json out{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = required;
  return out;
}

Json with_doc(Json schema, const char* doc) {
  schema["description"] = doc;
  return schema;
}

Json of_param(const ParamSpec& spec) {
  switch (spec.type) {
    case ParamType::kBool:
      return {{"type", "boolean"}};
    case ParamType::kInt:
      return {{"type", "integer"}};
    case ParamType::kNumber:
      return {{"type", "number"}};
    case ParamType::kText:
      return spec.choices.empty() ? scalar() : one_of(spec.choices);
    case ParamType::kDuration:
      return ref("duration");
    case ParamType::kTextList: {
      const Json word = spec.choices.empty() ? scalar() : one_of(spec.choices);
      return {{"anyOf", {word, list_of(word)}}};
    }
    case ParamType::kIntList:
      return {{"anyOf", {Json{{"type", "integer"}}, list_of({{"type", "integer"}})}}};
    case ParamType::kRankSet:
      return ref("ranks");
    case ParamType::kMap:
      return {{"type", "object"}};
    case ParamType::kSignal:
      return {{"type", {"string", "integer"}}};
    case ParamType::kAny:
      break;
  }
  return Json::object();
}

void add_params(const std::vector<ParamSpec>& params, Json& properties, std::vector<std::string>& required) {
  for (const ParamSpec& spec : params) {
    properties[spec.name] = with_doc(of_param(spec), spec.doc);
    if (spec.required) required.emplace_back(spec.name);
  }
}

Json trigger() {
  Json comm = object({{"size", whole(1)}, {"has_rank", whole(0)}, {"name", scalar()}, {"nth", whole(1)}});
  Json ops = Json::array();
  for (const std::string& word : all_op_words())
    if (!is_file_op(*op_from_word(word))) ops.push_back(word);
  Json out = object({{"attempt", whole(0)},
                     {"phase", scalar()},
                     {"step", whole(0)},
                     {"op", {{"enum", ops}}},
                     {"comm", {{"anyOf", {scalar(), comm}}}},
                     {"nth", whole(1)},
                     {"file_op", one_of(file_op_words())},
                     {"path", scalar()},
                     {"mark", scalar()},
                     {"after_fault", scalar()},
                     {"edge", one_of({"before", "after"})}});
  out["minProperties"] = 1;
  return out;
}

Json fault(const FaultKind& kind) {
  std::vector<std::string> required{"kind", "ranks"};
  Json properties{{"id", scalar()},
                  {"kind", {{"const", kind.name}}},
                  {"ranks", ref("ranks")},
                  {"at", ref("trigger")},
                  {"times", {{"anyOf", {whole(1), Json{{"const", "unlimited"}}}}}},
                  {"each_attempt", {{"type", "boolean"}}},
                  {"optional", {{"type", "boolean"}}}};
  add_params(kind.params, properties, required);
  return with_doc(object(std::move(properties), required), kind.summary);
}

Json expectations() {
  Json kinds = Json::array(), alone = Json::array();
  for (const Oracle* oracle : Catalog<Oracle>::instance().all()) {
    std::vector<std::string> required;
    Json properties{{"id", scalar()}};
    add_params(oracle->params, properties, required);
    Json forms = Json::array({object(properties, required)});
    if (required.empty()) {
      forms.push_back({{"type", "null"}});
      alone.push_back(oracle->name);
    }
    if (!oracle->params.empty() && required.size() < 2) {  // the first parameter may stand without its name
      const ParamSpec& first = oracle->params.front();
      if (required.empty() || required[0] == first.name) forms.push_back(of_param(first));
    }
    kinds.push_back(with_doc(object({{oracle->name, {{"anyOf", forms}}}}, {oracle->name}), oracle->summary));
  }
  kinds.push_back({{"enum", alone}});
  return {{"type", "array"}, {"minItems", 1}, {"items", {{"anyOf", kinds}}}};
}

Json workload() {
  Json markers =
      object({{"step_begin", scalar()}, {"step_commit", scalar()}, {"value", scalar()}, {"error", scalar()}});
  Json ranks = whole(1);
  ranks["maximum"] = 16384;
  Json nodes = whole(1);
  nodes["maximum"] = 64;
  Json command = list_of(scalar());
  command["minItems"] = 1;
  return object({{"launcher", one_of(launcher_words())},
                 {"ranks", ranks},
                 {"command", command},
                 {"launcher_args", list_of(scalar())},
                 {"mpirun", scalar()},
                 {"nodes", nodes},
                 {"torchrun", scalar()},
                 {"env", map_of(scalar())},
                 {"cwd", scalar()},
                 {"restarts", whole(0)},
                 {"limits", object({{"wall", ref("duration")},
                                    {"slow_after", ref("duration")},
                                    {"hung_after", ref("duration")}})},
                 {"order_free", {{"type", "boolean"}}},
                 {"markers", markers},
                 {"needs", list_of({{"anyOf", {one_of(need_words()), pattern(kNcclNeedPattern)}}})},
                 {"cuda", one_of({"machine", "double"})},
                 {"nccl", pattern(R"(^[0-9]+(\.[0-9]+){0,2}$)")}},
                {"ranks", "command"});
}

}  // namespace

Json scenario_schema() {
  Json kinds = Json::array();
  for (const FaultKind* kind : Catalog<FaultKind>::instance().all()) kinds.push_back(fault(*kind));
  Json rank_words = one_of({"all", "victims", "others", "survivors"});
  Json rank = {{"anyOf", {whole(0), Json{{"type", "string"}, {"pattern", "^[0-9]+(-[0-9]+)?$"}}}}};
  Json ranks_list = list_of(rank);
  ranks_list["minItems"] = 1;
  Json tooth = object({{"id", scalar()},
                       {"args", list_of(scalar())},
                       {"env", map_of(scalar())},
                       {"set", {{"type", "object"}}},
                       {"must_fail", scalar()}},
                      {"must_fail"});
  Json some_ranks = whole(1), times = whole(1);
  some_ranks["maximum"] = 16384;
  times["maximum"] = 100;
  Json variants = list_of(object({{"id", scalar()},
                                  {"args", list_of(scalar())},
                                  {"env", map_of(scalar())},
                                  {"ranks", some_ranks},
                                  {"set", {{"type", "object"}}},
                                  {"times", times}},
                                 {"id"}));
  variants["minItems"] = 2;
  Json bug_args = list_of(scalar());
  bug_args["minItems"] = 1;
  Json out{{"$schema", "http://json-schema.org/draft-07/schema#"},
           {"title", "rankfault scenario, version 1"},
           {"$comment", "Generated by \"rankfault list schema\"."}};
  out.update(
      object({{"version", {{"const", 1}}},
              {"name", {{"type", {"string", "number", "boolean"}}}},
              {"summary", scalar()},
              {"workload", workload()},
              {"reference", {{"const", "fault_free"}}},
              {"seed", whole(0)},
              {"teeth", list_of(tooth)},
              {"variants", variants},
              {"bug", object({{"args", bug_args}, {"stands_for", scalar()}}, {"args", "stands_for"})},
              {"faults", list_of({{"anyOf", kinds}})},
              {"expect", expectations()},
              {"must_be", {{"anyOf", {one_of({"pass", "void"}), object({{"fail", scalar()}}, {"fail"})}}}}},
             {"version", "name", "workload", "expect"}));
  out["$defs"] = {{"duration", {{"type", "string"}, {"pattern", kDurationPattern}}},
                  {"ranks", {{"anyOf", {rank_words, rank, ranks_list}}}},
                  {"trigger", trigger()}};
  return out;
}

}  // namespace rankfault
