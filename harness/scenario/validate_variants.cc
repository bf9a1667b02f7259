// validate_variants: checks a scenario that is run in several ways.
#include <algorithm>

#include "harness/judge/oracle.h"
#include "harness/scenario/validate.h"

namespace rankfault {

void validate_variants(const Scenario& scenario, Problems& problems) {
  if (scenario.variants.empty() || scenario.expect.empty()) return;
  if (scenario.bug) problems.add("a scenario with a bug must not have variants", scenario.bug->pos);
  if (std::all_of(scenario.expect.begin(), scenario.expect.end(),
                  [](const ExpectationSpec& spec) { return is_over_variants(spec); }))
    problems.add("at least one expectation must judge each variant by itself: add \"- finished\"",
                 scenario.expect.front().pos);
}

}  // namespace rankfault
