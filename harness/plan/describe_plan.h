// describe_plan: names of verbs in plan.json, and descriptions of what an action will do.
#pragma once

#include <optional>
#include <string>

#include "harness/plan/plan.h"

namespace rankfault {

const char* to_text(rf_verb);
std::optional<rf_verb> verb_from_text(const std::string&);

// "rank 2: SIGKILL before its 3rd all_reduce on world in step 40, once"
std::string describe(const Action&, const Plan&);
std::string describe(const Trigger&);
std::string ordinal(int64_t);  // "3rd"

}  // namespace rankfault
