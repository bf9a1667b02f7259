// ladder: see ladder.h.
#include "harness/session/ladder.h"

#include <algorithm>

#include "harness/base/exit_code.h"

namespace rankfault {
namespace {

SessionOptions at_size(const SessionOptions& options, int ranks) {
  SessionOptions out = options;
  out.set.emplace_back("workload.ranks", std::to_string(ranks));
  out.by_verdict = false;
  return out;
}

bool failed(const Rung& rung) {
  const int code = rung.unit.report.exit_code;
  return rung.refused.empty() && code != kExitPass && code != kExitSkipped;
}

}  // namespace

const Rung* LadderResult::first_failure() const {
  const auto rung = std::find_if(rungs.begin(), rungs.end(), failed);
  return rung == rungs.end() ? nullptr : &*rung;
}

Result<LadderResult> run_ladder(const Scenario& scenario, std::vector<int> sizes, const RunFunction& run,
                                const SessionOptions& options) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  LadderResult out;
  std::optional<Error> last_refusal;
  for (const int ranks : sizes) {
    Rung rung;
    rung.ranks = ranks;
    const SessionOptions with = at_size(options, ranks);
    if (const Result<Plan> plan = make_plan(scenario, plan_options(with)); !plan) {
      last_refusal = plan.error();
      rung.refused = plan.error().to_string();
    }
    out.rungs.push_back(std::move(rung));
  }
  const auto refused = [](const Rung& rung) { return !rung.refused.empty(); };
  if (last_refusal && std::all_of(out.rungs.begin(), out.rungs.end(), refused)) return *last_refusal;

  std::vector<int> codes;
  for (auto rung = out.rungs.begin(); rung != out.rungs.end(); ++rung) {
    if (refused(*rung)) continue;
    Result<SessionResult> result = run_session({scenario}, run, at_size(options, rung->ranks));
    if (!result) return result.error();
    if (result->units.empty()) {  // interrupted before it began
      out.rungs.erase(rung, out.rungs.end());
      codes.push_back(result->exit_code);
      break;
    }
    rung->unit = std::move(result->units[0]);
    codes.push_back(rung->unit.report.exit_code);
  }
  out.exit_code = merged_exit_code(codes);
  if (options.interrupted && *options.interrupted != 0) out.exit_code = 128 + *options.interrupted;
  return out;
}

}  // namespace rankfault
