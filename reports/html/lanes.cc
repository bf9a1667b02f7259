#include "reports/html/lanes.h"

#include <algorithm>
#include <map>

#include "reports/html/clock.h"
#include "reports/html/packed.h"
#include "reports/html/track.h"

namespace rankfault::html {
namespace {

constexpr size_t kMostMarks = 200;  // of each rank that are written out

// The calls of a process that the page shows, in the order of their begins.
std::vector<const RecordedCall*> chosen(const CallHistory& history, uint64_t most, uint64_t& left_out) {
  std::vector<const RecordedCall*> calls;
  calls.reserve(history.calls().size());
  for (const RecordedCall& call : history.calls())
    if (call.op() != RF_OP_NONE && is_known(begin_of(call))) calls.push_back(&call);
  const auto earlier = [](const auto* a, const auto* b) { return begin_of(*a) < begin_of(*b); };
  std::stable_sort(calls.begin(), calls.end(), earlier);
  if (calls.size() <= most) return calls;
  const auto newest = calls.end() - static_cast<std::ptrdiff_t>(most);
  const auto tells = [](const RecordedCall* c) { return c->status() != CallStatus::kReturned; };
  std::vector<const RecordedCall*> kept;
  for (auto at = newest; at != calls.begin() && kept.size() < most / 4;)
    if (tells(*--at)) kept.push_back(*at);
  std::reverse(kept.begin(), kept.end());
  kept.insert(kept.end(), newest, calls.end());
  left_out += calls.size() - kept.size();
  return kept;
}

std::string end_words(const RankEnd& end) {
  return end.status.kind == ExitStatus::Kind::kUnknown ? "ended, status unknown" : end.status.to_string();
}

class Writer {
 public:
  Writer(const RunFacts& facts, Shapes& shapes, Texts& texts, uint64_t most)
      : facts_(facts), clock_(facts), shapes_(shapes), texts_(texts), most_(most) {
    for (const RankEnd& end : facts.ends) ends_[end.process] = &end;
    for (const Mark& mark : facts.marks) marks_[{mark.attempt, mark.rank}].push_back(&mark);
  }

  void process(const ProcessView& process, Lanes& out) {
    if (process.helper) return;
    shapes_.next_process();
    const CallHistory history(process, OpenCalls::kByStates);
    const auto calls = chosen(history, most_, out.left_out);
    const bool is_rank = process.rank >= 0 && process.stage >= RF_STAGE_CANDIDATE;
    if (!is_rank && calls.empty()) return;
    Json lane = {{"rank", process.rank}, {"attempt", process.attempt}, {"pid", process.id.pid}};
    lane["opened"] = clock_.json(process.opened);
    lane["end"] = end(process);
    lane["stops"] = Json::array();
    for (const Stop& stop : process.stops)
      lane["stops"].push_back({clock_.json(stop.first_seen), clock_.json(stop.last_seen)});
    Track track(history, shapes_, clock_);
    for (const RecordedCall* call : calls) track.add(*call, out.last_progress);
    lane["n"] = calls.size();
    lane["calls"] = track.packed.base64();
    lane["did"] = texts_.number_of(fmt::format("{:016x}", track.digest));
    marks(process, lane, out);
    out.calls += calls.size();
    out.lost += process.history_lost;
    out.lanes.push_back(std::move(lane));
  }

 private:
  Json end(const ProcessView& process) const {
    const auto known = ends_.find(process.id);
    if (known == ends_.end()) return {};
    const RankEnd& end = *known->second;
    return {{"t", clock_.json(end.time)},
            {"bad", !end.status.zero()},
            {"text", texts_.number_of(end_words(end))}};
  }

  // The steps as (time, number) since the one before; the other marks as texts.
  void marks(const ProcessView& process, Json& lane, Lanes& out) {
    Packed steps;
    Json others = Json::array();
    uint64_t time = 0, n = 0;
    int64_t number = 0;
    const auto known = marks_.find({process.attempt, process.rank});
    const size_t all = known == marks_.end() ? 0 : known->second.size();
    for (size_t i = 0; i < all; ++i) {
      const Mark& mark = *known->second[i];
      const bool begins = mark.what == "step_begin";
      if (!begins && mark.what != "error_mark" && mark.what != "phase" && mark.what != "mark") continue;
      if (begins ? all - i > most_ : others.size() >= kMostMarks) {
        ++out.marks_left_out;
      } else if (begins) {
        const uint64_t at = clock_.ticks(mark.time);
        steps.put(at - std::min(at, time));
        steps.put_signed(mark.number - number);
        time = std::max(at, time);
        number = mark.number;
        ++n;
      } else {
        others.push_back({clock_.json(mark.time), mark.what == "error_mark",
                          texts_.number_of(mark.what + " " + mark.name)});
      }
    }
    lane["steps"] = steps.base64();
    lane["n_steps"] = n;
    lane["marks"] = std::move(others);
  }

  const RunFacts& facts_;
  const Clock clock_;
  Shapes& shapes_;
  Texts& texts_;
  const uint64_t most_;
  std::map<ProcessId, const RankEnd*> ends_;
  std::map<std::pair<int, int>, std::vector<const Mark*>> marks_;  // by attempt and rank
};

uint64_t records_of(const ProcessView& process) {
  uint64_t records = 0;
  for (const LaneView& lane : process.lanes) records += lane.head;
  return std::max<uint64_t>(records, process.history.size()) / 2;
}

}  // namespace

Lanes lanes_of(const RunFacts& facts, Shapes& shapes, Texts& texts, uint64_t most_calls) {
  Lanes out;
  Writer writer(facts, shapes, texts, most_calls);
  for (const ProcessView& process : facts.timeline.processes) writer.process(process, out);
  return out;
}

uint64_t calls_of_each(const std::vector<const RunFacts*>& runs, uint64_t budget) {
  std::vector<uint64_t> sizes;
  for (const RunFacts* run : runs)
    for (const ProcessView& process : run->timeline.processes) sizes.push_back(records_of(process));
  std::sort(sizes.begin(), sizes.end());
  uint64_t left = budget;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint64_t share = left / (sizes.size() - i);
    if (sizes[i] > share) return share;
    left -= sizes[i];
  }
  return budget;
}

}  // namespace rankfault::html
