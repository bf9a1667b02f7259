// page: the HTML report of finished runs.
#pragma once

#include "reports/report.h"

namespace rankfault::html {

inline constexpr size_t kLargestPage = 20'000'000;  // bytes

// First it leaves out the oldest calls of each rank, then the contents of the oldest runs. Rows of the index
// always stay.
Result<std::string> page_of(const std::vector<RunReport>&, size_t largest);

}  // namespace rankfault::html
