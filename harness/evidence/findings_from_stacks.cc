#include "harness/evidence/findings_from_stacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/rank_words.h"
#include "harness/evidence/calls.h"

namespace rankfault {
namespace {

constexpr const char* kWait = "wait";  // for earlier work: the stack does not show which operation

// One rank, over all looks.
struct Seen {
  int rank = -1;
  const RankEvidence* last = nullptr;
  bool readable = true;       // every look had stacks
  bool moves = false;         // it was at different places
  bool stopped = true;        // its main thread was stopped at every look
  bool runs = false;          // a thread of it ran, it used CPU time, or it slept at different places
  std::set<std::string> ops;  // its operations at every look
};

bool has_stacks(const RankEvidence& e) {
  return std::any_of(e.threads.begin(), e.threads.end(),
                     [](const ThreadEvidence& t) { return !t.frames.empty() || !t.python.empty(); });
}

// Returns the program's own innermost frame in the main thread: the place where the program waits.
std::string own_place(const RankEvidence& e) {
  if (e.threads.empty()) return "";
  const std::vector<std::string> frames = own_frames(e.threads.front(), 1);
  return frames.empty() ? "" : frames.front();
}

const RankEvidence* rank_in(const std::vector<RankEvidence>& look, int rank) {
  for (const RankEvidence& e : look)
    if (e.rank == rank) return &e;
  return nullptr;
}

bool runs_now(const RankEvidence& e) {
  return std::any_of(e.threads.begin(), e.threads.end(),
                     [](const ThreadEvidence& t) { return t.state == 'R'; });
}

bool same_stack(const RankEvidence& a, const RankEvidence& b) {
  return !a.threads.empty() && !b.threads.empty() && a.threads.front().frames == b.threads.front().frames &&
         a.threads.front().python == b.threads.front().python;
}

// Uses a threshold of a twentieth of one core: threads that only keep time use far less. If a helper ended,
// its time is no longer counted.
bool used_cpu(const RankEvidence& first, const RankEvidence& last, Duration during) {
  if (first.cpu_time == Duration::zero() || last.cpu_time == Duration::zero()) return false;
  return last.cpu_time < first.cpu_time || last.cpu_time - first.cpu_time > during / 20;
}

Seen seen_of(const StackLooks& looks, int rank) {
  Seen seen;
  seen.rank = rank;
  bool first = true;
  std::string place;
  const RankEvidence* at_first = nullptr;
  for (const auto& look : looks.looks) {
    const RankEvidence* e = rank_in(look, rank);
    if (!e || !has_stacks(*e)) {
      seen.readable = false;
      continue;
    }
    const std::set<std::string> ops = ops_of(*e);
    if (!first && (ops != seen.ops || (!ops.empty() && own_place(*e) != place))) seen.moves = true;
    seen.ops = ops;
    seen.stopped = seen.stopped && !e->threads.empty() && e->threads.front().state == 'T';
    seen.runs = seen.runs || runs_now(*e) || (seen.last && !same_stack(*seen.last, *e));
    place = own_place(*e);
    at_first = first ? e : at_first;
    seen.last = e;
    first = false;
  }
  if (at_first && used_cpu(*at_first, *seen.last, looks.during)) seen.runs = true;
  return seen;
}

// Returns the operation of most ranks. On equal counts it is the first by name, and a plain wait never comes
// before a named operation.
std::string common_op(const std::vector<Seen>& all) {
  std::map<std::string, int> count;
  for (const Seen& s : all)
    for (const std::string& op : s.ops) ++count[op];
  std::string best;
  for (const auto& [op, n] : count)
    if (best.empty() || best == kWait || (op != kWait && n > count[best])) best = op;
  return best;
}

struct Sides {
  std::vector<const Seen*> inside, elsewhere;  // in the common call; elsewhere: in another one
  std::vector<const Seen*> running, asleep;    // outside any call
};

Sides sides_of(const std::vector<Seen>& all, const std::string& op) {
  Sides sides;
  for (const Seen& s : all) {
    if (s.ops.count(op))
      sides.inside.push_back(&s);
    else if (s.ops.empty())
      (s.runs ? sides.running : sides.asleep).push_back(&s);
    else if (!s.ops.count(kWait))  // a plain wait may be for this very operation
      sides.elsewhere.push_back(&s);
  }
  return sides;
}

std::vector<int> ranks_of(const std::vector<const Seen*>& seen) {
  std::vector<int> ranks;
  for (const Seen* s : seen) ranks.push_back(s->rank);
  return ranks;
}

// Returns the rank's own name for the operation: "gloo::barrier".
std::string name_of(const RankEvidence& e, const std::string& op) {
  for (const ThreadEvidence& thread : e.threads)
    if (const StackCall call = call_of(thread); call.op == op || call.name == op) return call.name;
  return op;
}

const char* is_are(const std::vector<int>& ranks) { return ranks.size() == 1 ? "is" : "are"; }

// Ranks with the same call and the same own frame form one side.
void add_sides(const std::vector<const Seen*>& seen, Finding& finding) {
  for (const Seen* s : seen) {
    Side side;
    const StackCall call = call_of(*s->last);
    side.op = call.op == kWait ? "" : call.op;
    side.what = call.name.empty() ? "outside of any call" : "in " + call.name;
    side.call_site = own_place(*s->last);
    const auto same = std::find_if(finding.sides.begin(), finding.sides.end(), [&](const Side& other) {
      return other.what == side.what && other.call_site == side.call_site;
    });
    (same != finding.sides.end() ? *same : finding.sides.emplace_back(std::move(side)))
        .ranks.push_back(s->rank);
  }
}

Findings nothing(const char* kind, std::string text) {
  Finding f;
  f.kind = kind;
  f.text = std::move(text);
  return {{f}};
}

Finding odd_finding(const char* kind, const char* how, const std::vector<const Seen*>& odd,
                    const Sides& sides, bool tie, const std::string& op, const StackLooks& looks) {
  Finding f;
  f.kind = kind;
  if (!tie) f.ranks = ranks_of(odd);
  f.op = op == kWait ? "" : op;
  add_sides(sides.inside, f);
  add_sides(odd, f);
  const std::vector<int> inside = ranks_of(sides.inside), others = ranks_of(odd);
  const std::string call = name_of(*sides.inside.front()->last, op);
  f.text = fmt::format("{} {} in {}, {} {} {}, at {} looks within {}{}", ranks_text(inside), is_are(inside),
                       call, ranks_text(others), is_are(others), how, looks.looks.size(),
                       to_text(looks.during), tie ? "; neither side is the minority" : "");
  if (!tie) f.call_site = own_place(*odd.front()->last);
  for (const Seen* s : odd)
    for (const std::string& line : short_evidence(*s->last))
      f.evidence.push_back(fmt::format("rank {}: {}", s->rank, line));
  return f;
}

// Inside a call or not, a stopped rank does not go on.
Findings stopped_ranks(const std::vector<Seen>& all, const StackLooks& looks) {
  std::vector<const Seen*> stopped, others;
  for (const Seen& s : all) (s.stopped ? stopped : others).push_back(&s);
  if (stopped.empty()) return {};
  Finding f;
  f.kind = "stopped_rank";
  f.ranks = ranks_of(stopped);
  add_sides(others, f);
  add_sides(stopped, f);
  f.call_site = own_place(*stopped.front()->last);
  f.text = fmt::format("{} {} stopped, at {} looks within {}", ranks_text(f.ranks), is_are(f.ranks),
                       looks.looks.size(), to_text(looks.during));
  return {{f}};
}

// Names the ranks that have no process here, by the number of ranks from the launcher.
std::string absent_text(const StackLooks& looks) {
  std::vector<int> absent;
  for (int rank = 0; rank < looks.world_size && absent.size() < 16; ++rank)
    if (!rank_in(looks.looks.back(), rank)) absent.push_back(rank);
  return absent.empty() ? ""
                        : fmt::format("; {} {} no process here", ranks_text(absent),
                                      absent.size() == 1 ? "has" : "have");
}

// Returns a rank that was asleep at one place, or in one call, at every look: nothing shows that it goes on.
const Seen* one_that_stays(const std::vector<Seen>& all) {
  for (const Seen& s : all)
    if (!s.readable || (!s.moves && (!s.ops.empty() || !s.runs))) return &s;
  return nullptr;
}

std::string stays_text(const Seen& s) {
  if (!s.readable) return fmt::format("the stacks of rank {} could not be read", s.rank);
  return fmt::format("rank {} was at the same place at every look{}", s.rank,
                     s.ops.empty() ? "" : ", in " + name_of(*s.last, *s.ops.begin()));
}

// If one rank goes on, the ranks that it waits for, or that wait for it, need not.
Findings some_move(const std::vector<Seen>& all, const Seen& mover, const std::string& absent) {
  const std::string moves = fmt::format("rank {} was not at the same place at every look", mover.rank);
  const Seen* stays = one_that_stays(all);
  if (!stays) return nothing("none", moves + ": the job moves" + absent);
  return nothing("cannot_say", moves + ", but " + stays_text(*stays) + absent);
}

}  // namespace

Findings odd_ranks(const StackLooks& looks) {
  if (looks.looks.size() < 2 || looks.looks.back().empty())
    return nothing("cannot_say", "the job has fewer than two looks");
  std::vector<Seen> all;
  for (const RankEvidence& e : looks.looks.back()) all.push_back(seen_of(looks, e.rank));
  const std::string absent = absent_text(looks);
  for (const Seen& seen : all)
    if (seen.moves) return some_move(all, seen, absent);
  const Seen* const one = one_that_stays(all);
  const std::string stays = one ? stays_text(*one) : "";
  std::erase_if(all, [](const Seen& seen) { return !seen.readable; });
  if (all.size() < 2)
    return nothing("cannot_say",
                   fmt::format("the stacks of {} ranks could be read, and at least two are needed{}",
                               all.size(), absent));
  const std::string op = common_op(all);
  if (op.empty() && !stays.empty())
    return nothing("cannot_say",
                   "no rank is in a communication call that rankfault knows, and " + stays + absent);
  if (op.empty()) return nothing("none", "no rank is in a communication call, and all of them run" + absent);
  if (Findings stopped = stopped_ranks(all, looks); !stopped.all.empty()) return stopped;
  const Sides sides = sides_of(all, op);
  const size_t odd = sides.running.size() + sides.asleep.size() + sides.elsewhere.size();
  const std::string call = name_of(*sides.inside.front()->last, op);
  if (odd == 0)
    return nothing(
        "cannot_say",
        fmt::format("every rank that could be read is in {} or waits: no rank is outside{}", call, absent));
  if (sides.inside.size() < odd)
    return nothing("cannot_say",
                   fmt::format("{} of {} ranks wait in {}, at {} looks within {}, and most are elsewhere{}",
                               sides.inside.size(), all.size(), call, looks.looks.size(),
                               to_text(looks.during), absent));
  const bool tie = sides.inside.size() == odd;
  Findings found;
  const auto tell = [&](const char* kind, const char* how, const std::vector<const Seen*>& ranks) {
    if (!ranks.empty()) found.all.push_back(odd_finding(kind, how, ranks, sides, tie, op, looks));
  };
  tell("stuck_outside", "asleep outside of it", sides.asleep);
  tell("slow_rank", "running outside any call", sides.running);
  tell("call_mismatch", "in another call", sides.elsewhere);
  for (Finding& f : found.all) f.text += absent;
  return found;
}

}  // namespace rankfault
