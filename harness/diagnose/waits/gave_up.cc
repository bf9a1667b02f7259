#include "harness/diagnose/waits/gave_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "harness/diagnose/model/end_times.h"

namespace rankfault {
namespace {

constexpr Duration kShortestGuess = 500ms;  // shortest wait that counts without a recorded limit
constexpr Duration kShortestLimit = 10ms;

bool is_call(const Call& c) { return !rf_is_inner(c.op()) && !c.traits().is_of_files; }

Instant inside_until(const Process& p, const Call& c) {
  if (!c.open()) return c.flags() & RF_CALL_NONBLOCKING ? c.entered : c.left;
  return p.ended() ? p.view->end.time : kEndOfTime;
}

bool is_collective_of_program(const Call& c) {
  return is_collective(c.op()) && !(c.flags() & RF_CALL_EXECUTION);
}

// The facts needed for each call of a process, computed once from its calls.
struct Past {
  explicit Past(const Process& p) {
    for (const Call& c : p.calls) {
      if (c.op() == RF_OP_COMM_ABORT) aborts.push_back(c.entered);
      if (is_call(c) && c.status == Call::Status::kFailed) failures.push_back(c.left);
      if (is_collective_of_program(c) && c.succeeded()) last_good = std::max(last_good, c.entered);
    }
    std::sort(aborts.begin(), aborts.end());
    std::sort(failures.begin(), failures.end());
  }
  std::vector<Instant> aborts, failures;  // in order
  Instant last_good;                      // when it entered the newest collective that returned success
};

// Returns when its own process aborted a communicator after the call, or ended inside it by its own decision.
Instant own_end_of(const Process& p, const Past& past, const Call& call) {
  const auto abort = std::upper_bound(past.aborts.begin(), past.aborts.end(), call.entered);
  if (abort != past.aborts.end()) return *abort;
  if (!call.open() || call.traits().errors_end_rank || !p.ended() || !p.view->end.status_known) return {};
  const ProcessEnd& end = p.view->end;
  return end.value != 0 && (!end.by_signal || end.value == SIGABRT) ? end.time : Instant{};
}

// Returns the call's own limit, which the lane's state keeps until the next call, or the communicator's
// limit.
Duration limit_on_record(const Member& m, const Call& c) {
  for (const LaneView& l : m.process->view->lanes) {
    if (l.index != c.lane || l.state.call != c.number || l.state.deadline_ns <= l.state.since_ns) continue;
    return lasted(instant_of(l.state.since_ns), instant_of(l.state.deadline_ns));
  }
  return m.comm->timeout;
}

// Timers are accurate to a twentieth of their duration.
bool came_to(Duration limit, Duration waited) {
  return limit >= kShortestLimit && waited >= limit - limit / 20;
}

// Whether the process ended with success or communicated again.
bool recovered(const Process& p, const Past& past, Instant at) {
  if (p.ended() && p.view->end.status_known && !p.view->end.by_signal && p.view->end.value == 0) return true;
  return past.last_good > at;
}

// Whether the process itself failed between the two times: the failures of the others may be a consequence.
bool failed_between(const Process& p, const Past& past, Instant from, Instant to) {
  if (p.ended() && p.view->end.time < to + kTogether) return true;
  const auto failure = std::lower_bound(past.failures.begin(), past.failures.end(), from);
  return failure != past.failures.end() && *failure < to;
}

// Whether the process gave up itself or had finished: its absence then has another cause.
bool is_done_or_failed(const Process& p, const Member& m, uint64_t seq, Instant at) {
  const Call* last = nullptr;
  for (const Call& c : p.calls)
    if (is_call(c) && c.entered <= at && (!last || c.entered > last->entered)) last = &c;
  if (last && (last->status == Call::Status::kFailed || last->op() == RF_OP_COMM_ABORT) && last->left <= at)
    return true;
  if (m.entered(seq) != Known::kNo) return false;  // it came later
  const bool through = p.view->stage == RF_STAGE_FINALIZED || m.comm->destroyed;
  const ProcessEnd& end = p.view->end;
  return through || (p.ended() && end.status_known && !end.by_signal && end.value == 0);
}

bool inside_at(const Process& p, Instant at) {
  return std::any_of(p.calls.begin(), p.calls.end(),
                     [&](const Call& c) { return is_call(c) && c.entered <= at && inside_until(p, c) > at; });
}

// Returns when and how this rank gave up the call; none if the call succeeded, was refused, or was ended by
// others.
std::optional<GaveUp> gave_up(const Member& m, const Call& c, const Past& past) {
  if (!m.process || !m.comm || m.process->has_streams() || c.succeeded() || !is_collective(c.op()))
    return std::nullopt;
  GaveUp out{&m, &c, c.status == Call::Status::kFailed ? c.left : own_end_of(*m.process, past, c),
             Duration{0}};
  if (out.at <= c.entered || recovered(*m.process, past, out.at)) return std::nullopt;
  if (const Duration limit = limit_on_record(m, c); came_to(limit, lasted(c.entered, out.at)))
    out.limit = limit;
  return out;
}

using Pasts = std::unordered_map<const Process*, Past>;

const Past& past_of(const Process& p, Pasts& pasts) {
  const auto known = pasts.find(&p);
  return known != pasts.end() ? known->second : pasts.emplace(&p, Past(p)).first->second;
}

// Events of a process of another node that may have been before or after the rank gave up: that the process
// ended or a call of it failed, and, of a late rank, also that it entered or left a call.
std::string unordered_events(const GaveUp& first, const Process& p, bool is_late) {
  const ProcessView &waiter = *first.member->process->view, &other = *p.view;
  if (error_between(waiter, other) == Duration{}) return "";
  std::string why;
  const auto compare = [&](Instant at, Instant with) {
    if (why.empty()) why = why_unordered(waiter, with, other, at);
  };
  for (const Call& c : p.calls) {
    if (!is_call(c)) continue;
    if (c.status == Call::Status::kFailed) compare(c.left, first.call->entered);
    if (is_late) compare(c.entered, first.at);
    if ((is_late || c.status == Call::Status::kFailed) && !c.open()) compare(c.left, first.at);
  }
  if (p.ended()) compare(other.end.time, first.at + kTogether);
  if (p.ended() && is_late) compare(other.end.time, first.at);
  return why;
}

// A late rank that runs may have entered the call after its record was copied from its node, or, as far as
// the clocks tell, right after the look.
std::string too_new_for_its_record(const GaveUp& first, const Member& late, uint64_t seq, Instant look) {
  const ProcessView &waiter = *first.member->process->view, &other = *late.process->view;
  if ((waiter.node.empty() && other.node.empty()) || late.process->ended() || late.at(seq)) return "";
  const Instant read = other.node.empty() ? look : look - kOldestCopy;
  if (certainly_before(waiter, first.at, other, read)) return "";
  return fmt::format("rank {} runs, and its record may be older than these times", late.world_rank);
}

// The ranks that gave up at one place of a communicator, in order of time.
struct GivenUpPlace {
  const CommGroup* group;
  uint64_t seq;
  std::vector<GaveUp> by;
};

std::optional<GivenUp> given_up_at(const CommGroup& group, uint64_t seq, std::vector<GaveUp> by, Pasts& pasts,
                                   Instant look) {
  // Ranks that came later entered a call that was already over.
  std::erase_if(by, [at = by.front().at](const GaveUp& g) { return g.call->entered > at; });
  const GaveUp& first = by.front();
  GivenUp out{&group, seq, first.at, by, {}, {}, ""};
  const Needs needs = needs_of(*first.call, *first.member, group);
  Instant last_came = first.call->entered;
  std::unordered_set<const Member*> gave_up_too;
  for (const GaveUp& one : by) gave_up_too.insert(one.member);
  for (const Member& m : group.members) {
    if (&m == first.member || !m.process || !m.comm) continue;
    if (!gave_up_too.count(&m) &&
        failed_between(*m.process, past_of(*m.process, pasts), first.call->entered, first.at))
      return std::nullopt;
    if (!gave_up_too.count(&m) && out.unordered.empty())
      out.unordered = unordered_events(first, *m.process, false);
    const Call* own = m.at(seq);
    if (own && own->entered <= first.at) last_came = std::max(last_came, own->entered);
    if (!needs.certainly(m.rank) || had_entered(m, seq, first.at) != Known::kNo) continue;
    if (is_done_or_failed(*m.process, m, seq, first.at)) return std::nullopt;
    const bool is_inside = inside_at(*m.process, first.at);
    (is_inside ? out.inside : out.late).push_back(&m);
    if (!is_inside && out.unordered.empty()) out.unordered = unordered_events(first, *m.process, true);
    if (!is_inside && out.unordered.empty()) out.unordered = too_new_for_its_record(first, m, seq, look);
  }
  if (out.late.empty()) return std::nullopt;
  if (!first.by_limit() && lasted(last_came, first.at) < kShortestGuess) return std::nullopt;
  return out;
}

// Compares with three times the longest such call that succeeded before. Calls after that instant do not
// count: otherwise the late rank's own absence would excuse it.
bool longer_than_usual(const GivenUp& g) {
  constexpr int kFactor = 3;
  const GaveUp& first = g.by.front();
  if (first.by_limit()) return true;
  Duration longest{0};
  for (const Member& m : g.group->members)
    for (const Call* c : m.calls)
      if (c->op() == first.call->op() && c->succeeded() && c->left <= g.at)
        longest = std::max(longest, lasted(c->entered, c->left));
  return lasted(first.call->entered, g.at) >
         std::max(kShortestGuess, std::min(longest, kLongestDuration / kFactor) * kFactor);
}

}  // namespace

Known had_entered(const Member& m, uint64_t seq, Instant at) {
  const Call* own = m.at(seq);
  if (own && own->op() != RF_OP_FINALIZE) return own->entered <= at ? Known::kYes : Known::kNo;
  return m.entered(seq);
}

namespace {

std::vector<GivenUpPlace> given_up_places(const JobView& job, Pasts& pasts) {
  std::vector<GivenUpPlace> places;
  for (const CommGroup& group : job.comms()) {
    if (group.flags & RF_COMM_INTER) continue;
    std::map<uint64_t, std::vector<GaveUp>> by_seq;
    for (const Member* m : group.unfinished)
      for (const Call* c : m->calls)
        if (auto g = c->succeeded() ? std::nullopt : gave_up(*m, *c, past_of(*m->process, pasts)))
          by_seq[c->seq].push_back(*g);
    for (auto& [seq, by] : by_seq) {
      std::sort(by.begin(), by.end(), [](const GaveUp& a, const GaveUp& b) { return a.at < b.at; });
      places.push_back({&group, seq, std::move(by)});
    }
  }
  return places;
}

}  // namespace

std::optional<GivenUp> first_given_up(const JobView& job) {
  Pasts pasts;
  std::vector<GivenUpPlace> places = given_up_places(job, pasts);
  std::stable_sort(places.begin(), places.end(), [](const GivenUpPlace& a, const GivenUpPlace& b) {
    return a.by.front().at < b.by.front().at;
  });
  for (GivenUpPlace& place : places)
    if (std::optional<GivenUp> g =
            given_up_at(*place.group, place.seq, std::move(place.by), pasts, job.timeline().look))
      return longer_than_usual(*g) ? g : std::nullopt;
  return std::nullopt;
}

}  // namespace rankfault
