#include "harness/reproduce/case.h"

#include <algorithm>

namespace rankfault {
namespace {

Json to_json(const CaseCall& call, const std::vector<CaseGroup>& groups) {
  Json json{{"op", call.op}};
  if (call.group >= 0) json["group"] = groups[static_cast<size_t>(call.group)].name;
  if (!call.dtype.empty()) json["dtype"] = call.dtype;
  if (!call.reduce_op.empty()) json["reduce_op"] = call.reduce_op;
  if (call.count >= 0) json["count"] = call.count;
  if (call.peer >= 0) json["peer"] = call.peer;
  if (call.seq > 0) json["seq"] = call.seq;
  if (call.open) json["open"] = true;
  if (call.pending) json["pending"] = true;
  if (!call.where.empty()) json["where"] = call.where;
  return json;
}

Json to_json(const CaseRank& rank, const Case& c) {
  Json json{{"rank", rank.rank}, {"state", to_text(rank.state)}, {"calls", Json::array()}};
  const auto number = static_cast<size_t>(rank.rank);
  if (number < c.folded_from.size()) json["rank_in_evidence"] = c.folded_from[number];
  if (rank.signal > 0) json["signal"] = rank.signal;
  if (rank.code >= 0) json["code"] = rank.code;
  for (const CaseCall& call : rank.calls) json["calls"].push_back(to_json(call, c.groups));
  return json;
}

Json to_json(const HangState& state) {
  Json json{{"kind", state.kind},
            {"ranks", state.culprits},
            {"waiters", state.waiters},
            {"text", state.text},
            {"confidence", state.proven ? "proven" : "inferred"}};
  if (state.kind_is_guessed) json["kind_is_guessed"] = true;
  if (!state.op.empty()) json["op"] = state.op;
  if (!state.group.empty()) json["group"] = state.group;
  if (!state.field.empty()) json["field"] = state.field;
  if (!state.resource.empty()) json["resource"] = state.resource;
  if (!state.sides.empty()) json["sides"] = state.sides;
  if (state.seq > 0) json["seq"] = state.seq;
  return json;
}

}  // namespace

const char* to_text(RankState state) {
  static constexpr const char* kWords[] = {"unknown", "waits", "elsewhere", "ended", "not_started"};
  return kWords[static_cast<size_t>(state)];
}

const CaseRank* Case::rank(int number) const {
  const auto at =
      std::find_if(ranks.begin(), ranks.end(), [&](const CaseRank& r) { return r.rank == number; });
  return at == ranks.end() ? nullptr : &*at;
}

size_t few_ranks(int world_size) {
  return std::max<size_t>(1, std::min<size_t>(4, static_cast<size_t>(std::max(0, world_size)) / 4));
}

Json to_json(const Case& c) {
  Json json{{"schema", "rankfault.case.v1"}, {"world_size", c.world_size}, {"library", c.library},
            {"state", to_json(c.state)},     {"known", c.known},           {"guessed", c.guessed},
            {"questions", c.questions},      {"evidence", Json::array()},  {"groups", Json::array()},
            {"ranks", Json::array()}};
  if (c.folded_world > c.world_size) json["ranks_in_evidence"] = c.folded_world;
  if (c.limit_ms >= 0) json["limit_ms"] = c.limit_ms;
  for (const CaseEvidence& e : c.evidence)
    json["evidence"].push_back(
        {{"kind", e.kind}, {"path", e.path}, {"digest", e.digest}, {"bytes", e.bytes}});
  for (const CaseGroup& g : c.groups) json["groups"].push_back({{"name", g.name}, {"members", g.members}});
  for (const CaseRank& r : c.ranks) json["ranks"].push_back(to_json(r, c));
  return json;
}

}  // namespace rankfault
