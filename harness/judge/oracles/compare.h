// compare: the check of this oracle's parameters (compare_check.cc).
#pragma once

#include <string>
#include <vector>

#include "harness/judge/oracle.h"

namespace rankfault {

std::vector<std::string> variant_ids(const Scenario&);  // in the order of the file
Status check_compare(const ExpectationSpec&, const Scenario&);

}  // namespace rankfault
