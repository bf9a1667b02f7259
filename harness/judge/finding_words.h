// finding_words: the words of a finding that an expectation may name.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/scenario/params.h"

namespace rankfault {

// Rejects a kind, an operation or a sequence number that no finding can have, before the run: such an
// expectation would fail only at the end.
Status check_finding_words(const Value& wanted);

// The same for `any_of`, a list of at least one map of these keys.
Status check_any_of(const Value& any_of, const std::vector<std::string>& keys, const char* oracle);

}  // namespace rankfault
