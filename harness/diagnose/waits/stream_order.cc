#include "harness/diagnose/waits/stream_order.h"

#include <algorithm>
#include <deque>

#include "harness/diagnose/messages/messages.h"

namespace rankfault {
namespace {

// Returns the shortest circle of steps through an entry; empty if there is none.
std::vector<StreamStep> circle_through(const StreamEntries& entries, const StreamEntry& start) {
  std::unordered_map<const StreamEntry*, StreamStep> reached_by;
  std::deque<const StreamEntry*> todo{&start};
  while (!todo.empty() && !reached_by.count(&start)) {
    const StreamEntry* from = todo.front();
    todo.pop_front();
    for (const StreamStep& step : entries.steps_from(*from))
      if (reached_by.try_emplace(step.before, step).second && step.before != &start)
        todo.push_back(step.before);
  }
  std::vector<StreamStep> steps;
  for (auto at = reached_by.find(&start); at != reached_by.end(); at = reached_by.find(steps.back().entry)) {
    steps.push_back(at->second);
    if (at->second.entry == &start) break;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Entries that wait for nothing complete in time, then those that wait only for such entries. Returns the
// rest, oldest first: each is in a circle or waits for one.
std::vector<const StreamEntry*> stuck_entries(const StreamEntries& entries) {
  const std::vector<StreamEntry>& all = entries.all();
  const auto index = [&](const StreamEntry* e) { return static_cast<size_t>(e - all.data()); };
  std::vector<std::vector<size_t>> held_by(all.size());
  std::vector<size_t> waits(all.size(), 0), todo;
  for (size_t i = 0; i < all.size(); ++i) {
    for (const StreamStep& step : entries.steps_from(all[i])) {
      held_by[index(step.before)].push_back(i);
      ++waits[i];
    }
    if (waits[i] == 0) todo.push_back(i);
  }
  while (!todo.empty()) {
    const size_t done = todo.back();
    todo.pop_back();
    for (const size_t i : held_by[done])
      if (--waits[i] == 0) todo.push_back(i);
  }
  std::vector<const StreamEntry*> stuck;
  for (size_t i = 0; i < all.size(); ++i)
    if (waits[i] != 0) stuck.push_back(&all[i]);
  std::sort(stuck.begin(), stuck.end(),
            [](const StreamEntry* a, const StreamEntry* b) { return a->call->entered < b->call->entered; });
  return stuck;
}

StreamKnot knot_of(const StreamEntries& entries, const std::vector<StreamStep>& steps) {
  StreamKnot knot;
  for (const StreamStep& s : steps) {
    knot.steps.push_back({s.entry->group, s.before->group, s.at, s.entry->call, s.part, s.before->call});
    if (is_message(s.before->call->op()) || is_message(s.entry->call->op())) continue;
    for (const Member& m : s.before->group->members)
      if (entries.has_in_order(m, *s.before->call, *s.entry)) knot.camps.emplace_back(s.before->group, &m);
  }
  return knot;
}

// Returns the calls of one member on a communicator, in its order.
std::vector<const Call*> calls_on(const Member& m, uint32_t lane) {
  std::vector<const Call*> calls;
  for (const Call& c : m.process->calls)
    if (c.comm() == m.comm->index && c.lane == lane && c.status != Call::Status::kFailed && c.count() != 0)
      calls.push_back(&c);
  return calls;
}

bool same_call(const Call& a, const Call& b) {
  return a.op() == b.op() && a.peer() == b.peer() && a.bytes() == b.bytes();
}

// Returns the call that came between these two calls in every earlier round; there must be two such rounds.
const Call* stood_before(const std::vector<const Call*>& calls, size_t at) {
  if (at < 2) return nullptr;
  const Call* between = nullptr;
  int rounds = 0;
  for (size_t i = 1; i + 1 < at; ++i) {
    if (!same_call(*calls[i - 1], *calls[at - 2]) || !same_call(*calls[i], *calls[at - 1])) continue;
    if (same_call(*calls[i + 1], *calls[at]) || (between && !same_call(*between, *calls[i + 1])))
      return nullptr;
    between = calls[i + 1];
    rounds += i + 2 < at && same_call(*calls[i + 2], *calls[at]);
  }
  return rounds >= 2 ? between : nullptr;
}

bool runs_on_streams(const JobView& job) {
  return std::any_of(job.comms().begin(), job.comms().end(),
                     [](const CommGroup& group) { return group.traits().runs_on_streams; });
}

StreamKnot find_stream_knot(const JobView& job, const DiagnoseOptions& options) {
  const Instant until = job.timeline().look - options.slow_after;
  if (until <= Instant{} || !runs_on_streams(job)) return {};
  const StreamEntries entries(job, until);
  const std::vector<const StreamEntry*> stuck = stuck_entries(entries);
  for (const StreamEntry* start : stuck) {
    const std::vector<StreamStep> steps = circle_through(entries, *start);
    if (steps.empty()) continue;
    StreamKnot knot = knot_of(entries, steps);
    for (const StreamEntry* entry : stuck) knot.stuck.insert(entry->call);
    return knot;
  }
  return {};
}

}  // namespace

struct JobView::KnownKnot {
  DiagnoseOptions options;
  StreamKnot knot;
};

const StreamKnot& JobView::stream_knot(const DiagnoseOptions& options) const {
  if (!knot_ || !(knot_->options == options))
    knot_ = std::make_shared<const KnownKnot>(KnownKnot{options, find_stream_knot(*this, options)});
  return knot_->knot;
}

std::optional<LeftOut> left_out(const StreamKnot& knot) {
  std::optional<LeftOut> found;
  for (const StreamKnot::Step& step : knot.steps) {
    const std::vector<const Call*> calls = calls_on(*step.at, step.before->lane);
    for (size_t at = 2; at < calls.size(); ++at) {
      if (calls[at]->succeeded()) continue;
      const Call* const example = stood_before(calls, at);
      if (!example) continue;
      if (found && found->member != step.at) return std::nullopt;  // either may be the one
      if (!found) found = LeftOut{step.before_group, step.at, example, calls[at]};
    }
  }
  return found;
}

}  // namespace rankfault
