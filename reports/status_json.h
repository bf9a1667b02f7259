// status_json: what `rankfault status --json` prints; its schema is docs/reference/status.v1.schema.json.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/diagnose/finding.h"
#include "reports/rank_table.h"

namespace rankfault {

// `state`: of the run; live, over, or dead when the rankfault that ran it was killed.
Json status_json(const std::string& state, const std::vector<RankPlace>&, const Findings&);

}  // namespace rankfault
