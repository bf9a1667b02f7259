// argument_names: names of the arguments that change_argument can change, and of their possible values.
#pragma once

#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

const std::vector<std::string>& argument_fields();  // count, dtype, root, reduce_op
rf_changed_arg argument_from_word(const std::string& field);
// The number that the agent writes: a count, a root, or the code of a dtype or reduce op.
Result<int64_t> argument_value(rf_changed_arg, const Value& to, int world_size);
std::string argument_text(rf_changed_arg, int64_t value);

}  // namespace rankfault
