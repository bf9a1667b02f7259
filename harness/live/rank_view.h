// rank_view: how a caller follows the ranks of a run while it runs.
#pragma once

#include <atomic>
#include <functional>

#include "harness/observe/timeline.h"

namespace rankfault {

struct RankView {
  Duration every{};                   // between two views; 0: only on request
  std::atomic<int>* asked = nullptr;  // not 0: someone asked for one; the run sets it back
  // A look without histories. Called in the thread of the run, which waits for it.
  std::function<void(const Timeline&, bool asked)> show;
};

}  // namespace rankfault
