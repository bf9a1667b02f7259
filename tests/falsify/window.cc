#include "tests/falsify/window.h"

#include <algorithm>
#include <map>

#include "harness/observe/lane_window.h"

namespace rankfault::testing {

Timeline windowed(Timeline t, uint64_t calls) {
  for (ProcessView& p : t.processes) {
    std::map<uint32_t, uint64_t> seen;   // calls, from the newest on
    std::map<uint32_t, uint64_t> first;  // place of the oldest kept call, in p.history
    for (size_t i = p.history.size(); i-- > 0;) {
      const Event& e = p.history[i];
      if (e.record.phase == RF_PHASE_ENTER && !is_mark_or_file(e.record) && ++seen[e.lane] == calls)
        first[e.lane] = i;
    }
    std::vector<Event> kept;
    for (size_t i = 0; i < p.history.size(); ++i) {
      const Event& e = p.history[i];
      const auto from = first.find(e.lane);
      if (from == first.end() || i >= from->second || is_mark_or_file(e.record)) kept.push_back(e);
    }
    p.history_lost += p.history.size() - kept.size();
    p.history = std::move(kept);
  }
  return t;
}

uint64_t random_window(std::mt19937_64& random) {
  constexpr uint64_t kWindows[] = {UINT64_MAX, 4, 8, 16, 32, 64};
  return kWindows[random() % 6];
}

}  // namespace rankfault::testing
