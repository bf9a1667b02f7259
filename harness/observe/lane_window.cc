#include "harness/observe/lane_window.h"

#include <algorithm>
#include <cstdlib>

#include "harness/observe/library_traits.h"

namespace rankfault {
namespace {

constexpr uint64_t kMostRecords = 4 * kWindowCalls;  // of calls; of marks a quarter
constexpr size_t kMostChunk = 1024, kLeastChunk = 4;

bool begins(const rf_record& r) { return r.phase == RF_PHASE_ENTER || r.phase == RF_PHASE_EVENT; }

bool has_a_place(const rf_record& r) {
  return r.phase == RF_PHASE_ENTER && r.comm != RF_NO_COMM && r.seq != 0 && !(r.flags & RF_CALL_EXECUTION);
}

void note_seq(std::vector<std::pair<uint32_t, uint64_t>>& last, const rf_record& r) {
  for (auto& [comm, seq] : last)
    if (comm == r.comm) {
      seq = std::max(seq, r.seq);
      return;
    }
  last.emplace_back(r.comm, r.seq);
}

}  // namespace

uint64_t window_calls() {
  const char* told = std::getenv("RANKFAULT_WINDOW_CALLS");
  const uint64_t calls = told ? std::strtoull(told, nullptr, 10) : 0;
  return calls != 0 ? calls : kWindowCalls;
}

bool is_mark_or_file(const rf_record& r) {
  const LibraryTraits& traits = traits_of(r.library);
  return traits.is_of_marks || traits.is_of_files;
}

LaneWindow::LaneWindow(uint64_t window)
    : window_(window), chunk_records_(std::clamp<size_t>(window / 4, kLeastChunk, kMostChunk)) {}

void LaneWindow::add(const rf_record& r) {
  add(is_mark_or_file(r) ? marks_ : calls_, r);
  next_ = std::max(next_, r.commit);
}

void LaneWindow::add(Part& part, const rf_record& r) {
  if (part.chunks.empty() || part.chunks.back().held->records.size() == chunk_records_) {
    part.chunks.push_back({std::make_shared<RecordChunk>(), 0, {}});
    part.chunks.back().held->records.reserve(chunk_records_);
  }
  Chunk& chunk = part.chunks.back();
  chunk.held->records.push_back(r);
  ++part.records;
  if (!begins(r)) return;
  ++chunk.calls;
  ++part.calls;
  if (has_a_place(r)) note_seq(chunk.last_seq, r);
}

uint64_t LaneWindow::let_go_first(Part& part) {
  const uint64_t records = part.chunks.front().held->records.size();
  part.calls -= part.chunks.front().calls;
  part.records -= records;
  let_go_ += records;
  part.chunks.pop_front();
  part.first = part.chunks.empty() ? next_ : part.chunks.front().held->records.front().commit - 1;
  return records;
}

void LaneWindow::trim(const std::function<bool(uint32_t, uint64_t)>& complete) {
  while (marks_.chunks.size() > 1 &&
         (marks_.calls - marks_.chunks.front().calls >= window_ || marks_.records > kMostRecords / 4))
    marks_let_go_ += let_go_first(marks_);
  while (calls_.chunks.size() > 1) {
    const Chunk& oldest = calls_.chunks.front();
    const uint64_t rest = calls_.calls - oldest.calls;
    if (rest < window_ && calls_.records <= kMostRecords) return;
    const bool done = std::all_of(oldest.last_seq.begin(), oldest.last_seq.end(),
                                  [&](const auto& last) { return complete(last.first, last.second); });
    if (!done && rest < 2 * window_ && calls_.records <= kMostRecords) return;
    let_go_first(calls_);
  }
}

void LaneWindow::after_hole() {
  while (!calls_.chunks.empty()) let_go_first(calls_);
  calls_.first = next_;
}

LaneWindow::Shown LaneWindow::newest(uint64_t calls) const {
  Shown shown;
  const auto take = [&](const Part& part, uint64_t& first) {
    auto from = part.chunks.end();
    for (uint64_t has = 0; from != part.chunks.begin() && has < calls; has += from->calls) --from;
    first = from == part.chunks.begin() ? part.first
            : from == part.chunks.end() ? next_
                                        : from->held->records.front().commit - 1;
    for (; from != part.chunks.end(); ++from) {
      shown.chunks.emplace_back(from->held, from->held->records.size());
      shown.records += shown.chunks.back().second;
    }
  };
  take(calls_, shown.first);
  take(marks_, shown.first_mark);
  return shown;
}

}  // namespace rankfault
