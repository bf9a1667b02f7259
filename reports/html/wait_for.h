// wait_for: the graph of a finding: which ranks waited for which, with the cycle or the sink marked.
#pragma once

#include "reports/html/stuck.h"

namespace rankfault::html {

// {"at", "source", "groups": [{"ranks", "state", "site", "blamed", "cycle", "sink", ...}], "edges": [{"from",
// "to", "call"}]}; null: no rank waited. Ranks in one state with the same needs are one group.
Json wait_for_graph(const RunFacts&, const Finding&, const CommNames&);

}  // namespace rankfault::html
