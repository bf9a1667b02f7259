#include "reports/status_json.h"

namespace rankfault {

Json status_json(const std::string& state, const std::vector<RankPlace>& places, const Findings& findings) {
  Json ranks = Json::array();
  for (const RankPlace& place : places) {
    Json one{{"ranks", place.ranks}, {"state", place.state}, {"call", place.call}};
    if (!place.step.empty()) one["step"] = place.step;
    if (place.since >= Duration::zero()) one["for_ns"] = place.since.count();
    ranks.push_back(std::move(one));
  }
  return {{"schema", "rankfault.status.v1"},
          {"state", state},
          {"ranks", std::move(ranks)},
          {"findings", to_json(findings)}};
}

}  // namespace rankfault
