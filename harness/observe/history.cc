#include "harness/observe/history.h"

#include <algorithm>
#include <tuple>

#include "harness/observe/lane_window.h"
#include "harness/observe/library_traits.h"

namespace rankfault {
namespace {

bool earlier(const Event& a, const Event& b) {
  return std::tie(a.record.time_ns, a.lane, a.index) < std::tie(b.record.time_ns, b.lane, b.index);
}

bool is_mark(uint16_t op) { return op >= RF_OP_MARK && op <= RF_OP_BATCH; }

}  // namespace

// Most rings have one lane that calls, and its records are in order.
void sort_history(std::vector<Event>& events) {
  if (!std::is_sorted(events.begin(), events.end(), earlier))
    std::sort(events.begin(), events.end(), earlier);
}

HistoryCut::HistoryCut(const std::vector<LaneView>& lanes) {
  for (const LaneView& lane : lanes)
    if (lane.index <= RF_MAX_LANES) at_[lane.index] = &lane;
}

bool HistoryCut::holds(const Event& e) const {
  const LaneView* lane = at_[e.lane];
  if (!lane || e.index >= lane->head) return false;
  if (e.index < (is_mark_or_file(e.record) ? lane->first_mark : lane->first)) return false;
  return lane->torn.empty() || std::find(lane->torn.begin(), lane->torn.end(), e.index) == lane->torn.end();
}

void add_name(const RingReader& ring, const rf_record& r, std::map<uint32_t, std::string>& names) {
  uint32_t offset = 0;
  if (is_mark(r.op)) offset = static_cast<uint32_t>(r.tag_or_result);
  if (rf_is_inner(r.op) || traits_of(r.library).is_of_files) offset = static_cast<uint32_t>(r.seq);
  if (offset == 0 || offset >= RF_NAME_BYTES) return;
  if (auto [at, fresh] = names.try_emplace(offset); fresh) at->second = ring.name(offset);
}

}  // namespace rankfault
