// stuck: the call of each rank that did not succeed by the time of a finding, and the ranks that it needed
// and that had not come. It reads the records alone, as the timeline does: the finding is not made from it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reports/html/shapes.h"

namespace rankfault::html {

struct Stuck {
  int rank = -1;
  const ProcessView* process = nullptr;  // null: the rank left no record
  std::string state;  // "in all_reduce 40 on world", "ended by SIGKILL", "outside any call"
  std::string site;
  std::string op;  // of the call that it waits in; "": it waits in none
  bool ended = false;
  Instant since;
  std::set<int> needs;  // world ranks
};

// By rank. `until`: when the finding was made.
std::vector<Stuck> stuck_ranks(const RunFacts&, const Finding&, Instant until, const CommNames&);

}  // namespace rankfault::html
