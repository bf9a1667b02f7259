#include "harness/session/ladder.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/exit_code.h"

namespace rankfault {
namespace {

// Returns the variant of one rung: rungs differ in their size only.
Variant of_size(int ranks) {
  Variant out;
  out.id = fmt::format("{}-ranks", ranks);
  out.ranks = ranks;
  return out;
}

SessionOptions as_variant(const SessionOptions& options, const Variant& variant) {
  SessionOptions out = options;
  out.variant = &variant;
  out.by_verdict = false;
  return out;
}

bool has_failed(const Rung& rung) {
  const int code = rung.unit.report.exit_code;
  return rung.refused.empty() && code != kExitPass && code != kExitSkipped;
}

}  // namespace

const Rung* LadderResult::first_failure() const {
  const auto rung = std::find_if(rungs.begin(), rungs.end(), has_failed);
  return rung == rungs.end() ? nullptr : &*rung;
}

Result<LadderResult> run_ladder(const Scenario& scenario, std::vector<int> sizes, const RunFunction& run,
                                const SessionOptions& options) {
  if (!scenario.variants.empty())
    return usage_error("this scenario has variants: a series of sizes needs a scenario without variants",
                       {scenario.file, 0, 0});
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  LadderResult out;
  std::optional<Error> last_refusal;
  for (const int ranks : sizes) {
    Rung rung;
    rung.ranks = ranks;
    const Variant variant = of_size(ranks);
    if (const Result<Plan> plan = make_plan(scenario, plan_options(as_variant(options, variant))); !plan) {
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
    const Variant variant = of_size(rung->ranks);
    Result<SessionResult> result = run_session({scenario}, run, as_variant(options, variant));
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
