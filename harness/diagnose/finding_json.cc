// finding_json: converts findings to JSON and back. The keys are in the order in which users ask for them.
#include <fmt/format.h>

#include <cstdlib>

#include "harness/diagnose/finding.h"

namespace rankfault {
namespace {

const char* claim_word(Claim claim) {
  switch (claim) {
    case Claim::kCannotReturn:
      return "cannot_return";
    case Claim::kNotTheSameCall:
      return "not_the_same_call";
    case Claim::kHadNotEntered:
      return "had_not_entered";
    case Claim::kNone:
      break;
  }
  return "none";
}

Json side_json(const Side& s) {
  return {{"ranks", s.ranks}, {"op", s.op}, {"what", s.what}, {"call_site", s.call_site}};
}

Side side_of(const Json& j) {
  return {j.at("ranks").get<std::vector<int>>(), j.at("op").get<std::string>(),
          j.at("what").get<std::string>(), j.at("call_site").get<std::string>()};
}

}  // namespace

const char* to_text(Confidence confidence) {
  switch (confidence) {
    case Confidence::kProven:
      return "proven";
    case Confidence::kStrict:
      return "strict";
    case Confidence::kRemark:
      return "remark";
    case Confidence::kInferred:
      break;
  }
  return "inferred";
}

Json to_json(const Finding& f) {
  Json sides = Json::array(), assumes = Json::array();
  for (const Side& s : f.sides) sides.push_back(side_json(s));
  for (const Assumption& a : f.assumes)
    assumes.push_back({{"name", a.name}, {"holds", a.holds}, {"why", a.why}});
  Json j = {{"kind", f.kind},
            {"ranks", f.ranks},
            {"op", f.op},
            {"comm", f.comm},
            {"comm_id", fmt::format("{:016x}", f.comm_id)}};
  if (f.seq)
    j["seq"] = {{"from", f.seq->from}, {"to", f.seq->to}};
  else
    j["seq"] = nullptr;
  j["seq_reason"] = f.seq_reason;
  j["confidence"] = to_text(f.confidence);
  j["claim"] = claim_word(f.claim);
  j["text"] = f.text;
  j["field"] = f.field;
  j["call_site"] = f.call_site;
  j["resource"] = f.resource;
  j["attempt"] = f.attempt;
  j["sides"] = std::move(sides);
  j["claimed"] = Json::array();
  for (const ClaimedCall& c : f.claimed) j["claimed"].push_back({c.rank, c.lane, c.number});
  j["assumes"] = std::move(assumes);
  j["ends_by"] = f.ends_by;
  j["evidence"] = f.evidence;
  j["at"] = f.at;
  if (f.clock && *f.clock != NodeClock{}) j["clock"] = {{"node", f.clock->node}, {"error", f.clock->error}};
  if (is_known(f.since)) j["since"] = f.since;
  j["caused_by"] = f.caused_by;
  if (f.handled) j["handled"] = true;
  if (f.withdrawn) j["withdrawn"] = true;
  if (f.withdrawn) j["withdrawn_because"] = f.withdrawn_because;
  return j;
}

Json to_json(const Findings& findings) {
  Json all = Json::array();
  for (const Finding& f : findings.all) all.push_back(to_json(f));
  return all;
}

Result<Finding> finding_from_json(const Json& j) try {
  Finding f;
  f.kind = j.at("kind").get<std::string>();
  f.ranks = j.at("ranks").get<std::vector<int>>();
  f.op = j.at("op").get<std::string>();
  f.comm = j.at("comm").get<std::string>();
  f.comm_id = std::strtoull(j.at("comm_id").get<std::string>().c_str(), nullptr, 16);
  if (const Json& seq = j.at("seq"); !seq.is_null())
    f.seq = SeqRange{seq.at("from").get<uint64_t>(), seq.at("to").get<uint64_t>()};
  f.seq_reason = j.at("seq_reason").get<std::string>();
  const std::string confidence = j.at("confidence").get<std::string>();
  for (const Confidence known : {Confidence::kProven, Confidence::kStrict, Confidence::kRemark})
    if (confidence == to_text(known)) f.confidence = known;
  const std::string claim = j.at("claim").get<std::string>();
  f.claim = claim == "cannot_return"       ? Claim::kCannotReturn
            : claim == "not_the_same_call" ? Claim::kNotTheSameCall
            : claim == "had_not_entered"   ? Claim::kHadNotEntered
                                           : Claim::kNone;
  f.text = j.at("text").get<std::string>();
  f.field = j.at("field").get<std::string>();
  f.call_site = j.at("call_site").get<std::string>();
  f.resource = j.at("resource").get<std::string>();
  f.attempt = j.at("attempt").get<int>();
  for (const Json& s : j.at("sides")) f.sides.push_back(side_of(s));
  for (const Json& c : j.at("claimed"))
    f.claimed.push_back({c.at(0).get<int>(), c.at(1).get<uint32_t>(), c.at(2).get<uint32_t>()});
  for (const Json& a : j.at("assumes"))
    f.assumes.push_back(
        {a.at("name").get<std::string>(), a.at("holds").get<bool>(), a.at("why").get<std::string>()});
  f.ends_by = j.at("ends_by").get<std::string>();
  f.evidence = j.at("evidence").get<std::vector<std::string>>();
  f.at = j.at("at").get<Instant>();
  if (const auto clock = j.find("clock"); clock != j.end())
    f.clock = {clock->at("node").get<std::string>(), clock->at("error").get<Duration>()};
  f.since = j.value("since", Instant{});
  f.caused_by = j.at("caused_by").get<int>();
  f.handled = j.value("handled", false);
  f.withdrawn = j.value("withdrawn", false);
  f.withdrawn_because = j.value("withdrawn_because", "");
  return f;
} catch (const std::exception& e) {
  return usage_error(fmt::format("not a finding: {}", e.what()));
}

}  // namespace rankfault
