// scenario_tree: Scenario -> the tree it would be read from; reading that gives the same Scenario.
#pragma once

#include "harness/scenario/scenario.h"

namespace rankfault {

Value to_tree(const Scenario&);
Value to_tree(const Trigger&);

// Changes one place of a scenario's tree: "faults.ID.at.nth", "workload.limits.wall", "seed".
// The first unknown step of the path is an error. New keys may be made at the last step.
Status set_in_tree(Value& tree, const std::string& path, const Value& to);

}  // namespace rankfault
