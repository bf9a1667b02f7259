// looks: see looks.h.
#include "harness/live/looks.h"

#include <algorithm>

namespace rankfault {
namespace {

constexpr TimeNs kLongLookEvery = 500'000'000;
constexpr TimeNs kQuietLookEvery = 400'000'000;  // the second one tells of a hang within a second
constexpr TimeNs kRestFactor = 10;  // a look takes at most a tenth of the time: the job has the rest
constexpr int kLastTries = 5;
constexpr TimeNs kPause = 100'000'000;  // ticks come every few milliseconds

}  // namespace

void Looks::tick(TimeNs now) {
  if (next_long_look_ == 0) next_long_look_ = now + kLongLookEvery;
  const TimeNs gap = ticked_ != 0 ? now - ticked_ : 0;
  ticked_ = now;
  const uint64_t activity = observer_.activity();
  const bool moving = activity != activity_, unseen = looked_at_ != activity_;
  activity_ = activity;
  if (moving) {
    delays_.clear();
    paused_ = 0;
  }
  if (gap > kPause) paused_ += gap;
  const bool due = now >= next_long_look_;
  if (!due && (moving || !unseen)) return;
  const TimeNs began = now_ns();
  if (!moving && !unseen) measure_starvation();
  if (moving)
    diagnose_now("still moving", false, true);
  else if (!look(unseen ? "quiet" : "still quiet"))
    return;
  if (!moving) {
    looked_at_ = activity_;
    if (unseen) measure_starvation();
  }
  const TimeNs every = moving ? kLongLookEvery : kQuietLookEvery;
  next_long_look_ = now + std::max(every, (now_ns() - began) * kRestFactor);
}

bool Looks::look(const char* reason) { return diagnose_now(reason, false, false); }

void Looks::last_look(const char* reason) {
  for (int tries = 0; tries < kLastTries; ++tries)
    if (diagnose_now(reason, true, tries + 1 == kLastTries)) return;
}

// Never before a look at something new: what it finds does not wait for this.
void Looks::measure_starvation() {
  measured_ = now_ns();
  if (delays_.empty()) rested_ = measured_;
  for (const ProcessId& id : alive_)
    if (const auto [delay, is_new] = delays_.try_emplace(id, id.pid); !is_new) delay->second.look();
}

// Since it was measured it may have waited all the time: else a finding that is told now would be withdrawn
// by a look a moment later, when more is known. When the tool itself had no turn, nor may the job have had
// one.
void Looks::tell_starvation(ProcessView& p, TimeNs look) const {
  const auto delay = delays_.find(p.id);
  p.starved = paused_;
  p.measured_since = delay == delays_.end() ? look : rested_;
  if (delay == delays_.end() || !delay->second.known()) return;
  p.starved += delay->second.waited_ns() + (look > measured_ ? look - measured_ : 0);
}

bool Looks::diagnose_now(const char* reason, bool last, bool although_moving) {
  observer_.drain();
  Timeline timeline = canonical(observer_.look(true));
  alive_.clear();
  for (ProcessView& p : timeline.processes) {
    if (p.end.kind == EndKind::kAlive) alive_.push_back(p.id);
    tell_starvation(p, timeline.look);
  }
  if (!timeline.consistent && !although_moving) return false;
  const std::vector<Finding> news = log_.add(diagnose(timeline, options_.diagnose), last);
  if (news.empty() && !last) return true;
  const uint64_t line = journal_.write("look", {{"reason", reason},
                                                {"last", last},
                                                {"consistent", timeline.consistent},
                                                {"state", state_to_json(timeline)}});
  for (const Finding& finding : news) {
    journal_.write("finding", {{"look", line}, {"finding", to_json(finding)}});
    if (finding.confidence == Confidence::kProven && first_proven_ == 0) first_proven_ = now_ns();
  }
  if (options_.news && !news.empty()) options_.news(timeline, news);
  return true;
}

}  // namespace rankfault
