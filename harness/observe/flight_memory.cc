// flight_memory: see flight_memory.h.
#include "harness/observe/flight_memory.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "harness/observe/record_names.h"

namespace rankfault {
namespace {

constexpr uint64_t kSpillFrom = RF_LANE_RECORDS / 2;

bool earlier(const Event& a, const Event& b) {
  return std::tie(a.record.time_ns, a.lane, a.index) < std::tie(b.record.time_ns, b.lane, b.index);
}

// Most rings have one lane that calls, and its records are in order.
void sort(std::vector<Event>& events) {
  if (!std::is_sorted(events.begin(), events.end(), earlier))
    std::sort(events.begin(), events.end(), earlier);
}

bool is_mark(uint16_t op) { return op >= RF_OP_MARK && op <= RF_OP_BATCH; }

void add_name(const RingReader& ring, const rf_record& r, std::map<uint32_t, std::string>& names) {
  uint32_t offset = 0;
  if (is_mark(r.op)) offset = static_cast<uint32_t>(r.tag_or_result);
  if (rf_is_inner(r.op) || r.library == RF_LIB_LIBC) offset = static_cast<uint32_t>(r.seq);
  if (offset == 0 || offset >= RF_NAME_BYTES) return;
  if (auto [at, fresh] = names.try_emplace(offset); fresh) at->second = ring.name(offset);
}

}  // namespace

FlightMemory::FlightMemory(std::unique_ptr<RingReader> ring, std::string folder, bool live)
    : ring_(std::move(ring)), folder_(std::move(folder)), live_(live) {
  if (!live_) read_seen();
}

void FlightMemory::read_seen() {
  for (uint32_t lane = 0; lane <= RF_MAX_LANES; ++lane) {
    if (!ring_->may_have_spilled(lane, kSpillFrom)) continue;
    std::FILE* file = std::fopen((folder_ + "/" + seen_name(ring_->id(), lane)).c_str(), "rbe");
    if (!file) continue;
    rf_record record;
    while (std::fread(&record, sizeof record, 1, file) == 1) {
      if (record.commit == 0) continue;
      events_.push_back({lane, record.commit - 1, record});
      lanes_[lane].next = std::max(lanes_[lane].next, record.commit);
    }
    std::fclose(file);
  }
  sort(events_);
}

size_t FlightMemory::drain() {
  std::vector<Event> news;
  const uint32_t lanes = ring_->lanes_used();
  for (uint32_t i = 0; i < lanes; ++i) drain_lane(i, news);
  if (news.empty()) return events_.size();
  sort(news);
  if (events_.empty()) {
    events_ = std::move(news);
    return 0;
  }
  const size_t before = static_cast<size_t>(
      std::upper_bound(events_.begin(), events_.end(), news.front(), earlier) - events_.begin());
  const auto middle = static_cast<std::ptrdiff_t>(events_.size());
  events_.insert(events_.end(), news.begin(), news.end());
  if (before != static_cast<size_t>(middle))
    std::inplace_merge(events_.begin() + static_cast<std::ptrdiff_t>(before), events_.begin() + middle,
                       events_.end(), earlier);
  return before;
}

void FlightMemory::drain_lane(uint32_t index, std::vector<Event>& news) {
  Lane& lane = lanes_[index];
  const size_t first_new = news.size();
  std::vector<uint64_t> still_torn;
  for (const uint64_t at : lane.torn) {
    rf_record record;
    bool gone = false;
    if (ring_->read_record(index, at, record, gone))
      news.push_back({index, at, record});
    else if (!gone)
      still_torn.push_back(at);
  }
  const RingReader::LaneRead read = ring_->read_lane(index, lane.next, news);
  lane.next = read.next;
  still_torn.insert(still_torn.end(), read.torn.begin(), read.torn.end());
  lane.torn = std::move(still_torn);
  if (live_ && lane.next > kSpillFrom && news.size() != first_new) spill(index, news, first_new);
}

void FlightMemory::spill(uint32_t index, const std::vector<Event>& news, size_t first_new) {
  std::FILE* file = std::fopen((folder_ + "/" + seen_name(ring_->id(), index)).c_str(), "abe");
  if (!file) return;  // a replay then has less, and says that records were lost
  if (!lanes_[index].spilled)
    for (const Event& e : events_)
      if (e.lane == index) std::fwrite(&e.record, sizeof e.record, 1, file);
  lanes_[index].spilled = true;
  for (size_t i = first_new; i < news.size(); ++i)
    std::fwrite(&news[i].record, sizeof news[i].record, 1, file);
  std::fclose(file);
}

namespace {

std::array<const LaneView*, RF_MAX_LANES + 1> by_index(const std::vector<LaneView>& lanes) {
  std::array<const LaneView*, RF_MAX_LANES + 1> at{};
  for (const LaneView& lane : lanes)
    if (lane.index <= RF_MAX_LANES) at[lane.index] = &lane;
  return at;
}

}  // namespace

// Claimed at the look, and whole.
bool FlightMemory::within(const Cut& cut, const Event& e) {
  const LaneView* lane = cut[e.lane];
  return lane && e.index < lane->head &&
         (lane->torn.empty() || std::find(lane->torn.begin(), lane->torn.end(), e.index) == lane->torn.end());
}

void FlightMemory::fill_words(ProcessView& view, bool replay) const {
  uint64_t claimed = 0, known = 0;
  for (LaneView& lane : view.lanes) {
    claimed += lane.head;
    if (!replay)
      for (const uint64_t index : lanes_[lane.index].torn)
        if (index < lane.head) lane.torn.push_back(index);
    known += lane.torn.size();
  }
  const Cut cut = by_index(view.lanes);
  for (const Event& e : events_) {
    if (!within(cut, e)) continue;
    ++known;
    add_name(*ring_, e.record, view.name_at);
  }
  view.history_lost = claimed > known ? claimed - known : 0;
}

void FlightMemory::fill(ProcessView& view, bool replay) const {
  fill_words(view, replay);
  const Cut cut = by_index(view.lanes);
  view.history.clear();
  view.history.reserve(events_.size());
  for (const Event& e : events_)
    if (within(cut, e)) view.history.push_back(e);
}

std::vector<Event> FlightMemory::take(const std::vector<LaneView>& lanes) {
  const Cut cut = by_index(lanes);
  std::erase_if(events_, [&](const Event& e) { return !within(cut, e); });
  return std::move(events_);
}

}  // namespace rankfault
