// run_data: all that the page knows of one run, as JSON for its script.
#pragma once

#include "harness/base/json.h"
#include "reports/report.h"

namespace rankfault::html {

// `most_calls`: of each process.
Json run_data(const RunReport&, uint64_t most_calls);
// The same run as a row of the index: scenario, back end, verdict, when.
Json index_row(const RunReport&);

}  // namespace rankfault::html
