#include "reports/rank_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/agent/named_calls.h"
#include "harness/base/printable.h"
#include "harness/base/rank_words.h"
#include "reports/one_screen.h"
#include "reports/story.h"

namespace rankfault {
namespace {

// The lane that shows where the process is: the one that is inside a call for longest, else the one that left
// its last call most recently.
const LaneView* lane_that_shows(const ProcessView& process) {
  const LaneView* best = nullptr;
  const auto is_better = [](const LaneView& a, const LaneView& b) {
    const bool inside = a.state.where == RF_INSIDE;
    if (inside != (b.state.where == RF_INSIDE)) return inside;
    return inside ? a.state.since_ns < b.state.since_ns : a.state.since_ns > b.state.since_ns;
  };
  for (const LaneView& lane : process.lanes)
    if (lane.kind == RF_LANE_THREAD && lane.state.call != 0 && (!best || is_better(lane, *best)))
      best = &lane;
  return best;
}

std::string site_of(const ProcessView& process, const rf_state& state) {
  const auto line = process.source_lines.find(state.return_address);
  return line == process.source_lines.end() ? "" : ", " + line->second;
}

std::string call_text(const ProcessView& process, const rf_state& state, int world_size) {
  std::string text = op_text(state.op);
  if (!rf_is_named(state.op))
    if (const CommView* comm = process.comm(state.comm)) text += " on " + comm_name(comm, world_size);
  if (state.seq) text += fmt::format(", call {}", state.seq);
  return printable(text + site_of(process, state));
}

RankPlace place_of(const ProcessView& process, int world_size, Instant now) {
  RankPlace place;
  if (process.steps_begun) place.step = std::to_string(process.steps_begun - 1);
  Instant since = process.opened;
  place.state = "outside";
  if (const LaneView* lane = lane_that_shows(process)) {
    since = instant_of(lane->state.since_ns);
    if (lane->state.where == RF_INSIDE) place.state = "inside";
    place.call = call_text(process, lane->state, world_size);
  }
  if (process.stopped) place.state = "stopped";
  if (process.end.kind == EndKind::kEnded) {
    place.state = !process.end.status_known ? "ended"
                  : process.end.by_signal   ? fmt::format("signal {}", process.end.value)
                                            : fmt::format("exit {}", process.end.value);
    since = process.end.time;
  }
  place.since = is_known(since) ? now - since : Duration(-1);
  return place;
}

bool is_same_place(const RankPlace& a, const RankPlace& b) {
  return a.step == b.step && a.state == b.state && a.call == b.call;
}

}  // namespace

std::string seconds_text(Duration time) {
  return time < Duration::zero() ? "" : fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1e9);
}

std::vector<RankPlace> rank_places(const Timeline& timeline, Instant now) {
  std::vector<RankPlace> places;
  for (int rank = 0; rank < timeline.world_size; ++rank) {
    const ProcessView* process = timeline.rank(timeline.attempt, rank);
    RankPlace place;
    place.state = "not started";
    place.since = Duration(-1);
    if (process) place = place_of(*process, timeline.world_size, now);
    place.ranks = {rank};
    const auto same = std::find_if(places.begin(), places.end(),
                                   [&](const RankPlace& p) { return is_same_place(p, place); });
    if (same == places.end()) {
      places.push_back(std::move(place));
      continue;
    }
    same->ranks.push_back(rank);
    same->since = std::max(same->since, place.since);
  }
  return places;
}

std::string rank_table(const std::vector<RankPlace>& places, size_t columns, size_t rows) {
  size_t wide = 5;
  for (const RankPlace& place : places) wide = std::max(wide, ranks_text(place.ranks).size());
  wide = std::min<size_t>(wide, 20);
  std::string out = first_columns(fmt::format("{:<{}}  {:>5}  {:<11}  {:>9}  {}", "ranks", wide, "step",
                                              "state", "for", "call (the last one, if outside)"),
                                  columns) +
                    "\n";
  for (size_t i = 0; i < places.size() && i < rows; ++i) {
    const RankPlace& p = places[i];
    out += first_columns(fmt::format("{:<{}}  {:>5}  {:<11}  {:>9}  {}", ranks_text(p.ranks), wide, p.step,
                                     p.state, seconds_text(p.since), p.call),
                         columns) +
           "\n";
  }
  if (places.size() > rows) out += fmt::format("and {} more rows\n", places.size() - rows);
  return out;
}

}  // namespace rankfault
