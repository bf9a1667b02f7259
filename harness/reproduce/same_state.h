// same_state: whether two jobs hang in the same way.
#pragma once

#include <string>
#include <vector>

#include "harness/reproduce/case.h"

namespace rankfault {

// The kinds of findings that are one state seen at different times: a rank that did not come is slow first,
// and stuck later. At least the kind itself.
std::vector<std::string> equal_kinds(const std::string& kind);
// The kinds that are one answer where the reason was guessed: a rank that did not come, for whatever reason;
// or ranks that made different calls at one place.
bool alike(const std::string& kind, const std::string& other);

// "" if the states have the same kind and blame the same ranks; else what differs.
std::string difference(const HangState& wanted, const HangState& got);

// Also compares the waits: each rank that waits in `wanted` must be in that operation, on a group of the same
// members.
std::string difference(const Case& wanted, const Case& got);

}  // namespace rankfault
