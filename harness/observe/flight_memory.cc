#include "harness/observe/flight_memory.h"

#include <algorithm>

#include "harness/observe/history.h"

namespace rankfault {
namespace {

constexpr int kPauses = 9;  // drains between two readings of a lane that overwrites unread records

// Saves the records that are not saved yet.
void save_chunks(const LaneWindow::Shown& shown, const std::string& folder, const ProcessId& process,
                 uint32_t lane, SeenFiles& files, bool around_a_fault = false) {
  std::vector<rf_record> records;
  for (const auto& [chunk, size] : shown.chunks)
    for (; chunk->saved < size; ++chunk->saved) records.push_back(chunk->records[chunk->saved]);
  files.append(folder, process, lane, records, around_a_fault);
}

// The history of a look, from the chunks that it shares with the windows.
class ShownHistory final : public HistorySource {
 public:
  explicit ShownHistory(std::vector<LaneView> lanes) : lanes_(std::move(lanes)) {}
  void add(uint32_t lane, LaneWindow::Shown shown) { shown_.emplace_back(lane, std::move(shown)); }
  void save(const std::string& folder, const ProcessId& process, SeenFiles& files) const {
    for (const auto& [lane, shown] : shown_) save_chunks(shown, folder, process, lane, files);
  }

  std::optional<std::vector<Event>> events() const override {
    std::vector<Event> events;
    size_t records = 0;
    for (const auto& [lane, shown] : shown_) records += shown.records;
    events.reserve(records);
    const HistoryCut cut(lanes_);
    for (const auto& [lane, shown] : shown_)
      for (const auto& [chunk, size] : shown.chunks)
        for (size_t i = 0; i < size; ++i) {
          const Event event{lane, chunk->records[i].commit - 1, chunk->records[i]};
          if (cut.holds(event)) events.push_back(event);
        }
    sort_history(events);
    return events;
  }

 private:
  std::vector<LaneView> lanes_;
  std::vector<std::pair<uint32_t, LaneWindow::Shown>> shown_;
};

}  // namespace

FlightMemory::FlightMemory(std::unique_ptr<RingReader> ring, std::string folder, uint64_t window)
    : ring_(std::move(ring)), folder_(std::move(folder)), window_(window) {}

void FlightMemory::drain(bool all, const std::function<bool(uint32_t, uint64_t)>& complete,
                         const std::function<void(uint64_t)>& entered) {
  const uint32_t used = ring_->lanes_used();
  while (lanes_.size() < used) lanes_.push_back(std::make_unique<Lane>(window_));
  for (uint32_t i = 0; i < used; ++i) drain_lane(i, all, entered);
  if (save_to_)
    for (uint32_t i = 0; i < lanes_.size(); ++i)
      save_chunks(lanes_[i]->kept.all(), folder_, ring_->id(), i, *save_to_, true);
  if (calls_ >= save_until_) save_to_ = nullptr;
  for (const auto& lane : lanes_) lane->kept.trim(complete);
}

void FlightMemory::drain_lane(uint32_t index, bool all, const std::function<void(uint64_t)>& entered) {
  Lane& lane = *lanes_[index];
  if (lane.pauses > 0 && !all) {
    --lane.pauses;
    return;
  }
  news_.clear();
  std::vector<uint64_t> still_torn;
  for (const uint64_t at : lane.torn) {
    rf_record record;
    bool gone = false;
    if (ring_->read_record(index, at, record, gone))
      news_.push_back({index, at, record});
    else if (gone)
      ++lane.overwritten;
    else
      still_torn.push_back(at);
  }
  const RingReader::LaneRead read = ring_->read_lane(index, lane.next, news_);
  lane.next = read.next;
  lane.overwritten += read.lost;
  still_torn.insert(still_torn.end(), read.torn.begin(), read.torn.end());
  lane.torn = std::move(still_torn);
  if (read.lost != 0) {
    lane.kept.after_hole();
    lane.pauses = kPauses;
  }
  for (const Event& event : news_) {
    lane.kept.add(event.record);
    add_name(*ring_, event.record, names_);
    if (event.record.phase != RF_PHASE_ENTER) continue;
    ++calls_;
    entered(event.record.where);
  }
}

void FlightMemory::show(ProcessView& view, uint64_t calls) const {
  uint64_t claimed = 0, known = 0, marks = 0;
  std::vector<std::pair<uint32_t, LaneWindow::Shown>> shown;
  for (LaneView& lane : view.lanes) {
    claimed += lane.head;
    if (lane.index >= lanes_.size()) continue;
    const Lane& mine = *lanes_[lane.index];
    shown.emplace_back(lane.index, mine.kept.newest(calls));
    lane.first = shown.back().second.first;
    lane.first_mark = shown.back().second.first_mark;
    for (const uint64_t index : mine.torn)
      if (index < lane.head) lane.torn.push_back(index);
    known += shown.back().second.records + lane.torn.size();
    marks += mine.overwritten + mine.kept.marks_let_go();
  }
  auto source = std::make_shared<ShownHistory>(view.lanes);
  for (auto& [lane, what] : shown) source->add(lane, std::move(what));
  view.source = std::move(source);
  view.history_lost = claimed > known ? claimed - known : 0;
  view.marks_lost = marks;
  view.name_at = names_;
}

void FlightMemory::save(const ProcessView& view, const std::string& folder, SeenFiles& files) {
  if (const auto* shown = dynamic_cast<const ShownHistory*>(view.source.get()))
    shown->save(folder, view.id, files);
}

void FlightMemory::save_around(uint64_t before, uint64_t after, SeenFiles& files) {
  save_until_ = calls_ + after;
  if (save_to_) return;  // everything that came since the last time is saved
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    const LaneWindow::Shown shown = lanes_[i]->kept.newest(before);
    for (const auto& [chunk, size] : shown.chunks)
      chunk->saved = 0;  // the ordinary file of them may be
                         // removed
    save_chunks(shown, folder_, ring_->id(), i, files, true);
  }
  save_to_ = &files;
}

uint64_t FlightMemory::overwritten() const {
  uint64_t all = 0;
  for (const auto& lane : lanes_) all += lane->overwritten;
  return all;
}

uint64_t FlightMemory::let_go() const {
  uint64_t all = 0;
  for (const auto& lane : lanes_) all += lane->kept.let_go();
  return all;
}

}  // namespace rankfault
