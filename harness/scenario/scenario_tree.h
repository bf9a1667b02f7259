// scenario_tree: Scenario -> the tree from which it would be read; reading that gives the same Scenario.
#pragma once

#include "harness/scenario/scenario.h"

namespace rankfault {

Value to_tree(const Scenario&);
Value to_tree(const Trigger&);

// Changes one place of a scenario's tree: "faults.ID.at.nth", "workload.limits.wall", "seed". The first
// unknown step of the path is an error. The last step may make a new key.
Status set_in_tree(Value& tree, const std::string& path, const Value& to);

}  // namespace rankfault
