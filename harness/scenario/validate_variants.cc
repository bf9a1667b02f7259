// validate_variants: checks a scenario that is run in several ways.
#include <algorithm>

#include "harness/judge/oracle.h"
#include "harness/scenario/validate.h"

namespace rankfault {

void validate_variants(const Scenario& scenario, Problems& problems) {
  if (scenario.variants.empty() || scenario.expect.empty()) return;
  if (scenario.bug)
    problems.add("a bug is shown in one way: a scenario with a bug has no variants", scenario.bug->pos);
  if (std::all_of(scenario.expect.begin(), scenario.expect.end(),
                  [](const ExpectationSpec& spec) { return is_over_variants(spec); }))
    problems.add("each variant must show that it ran well by itself: add \"- finished\"",
                 scenario.expect.front().pos);
}

}  // namespace rankfault
