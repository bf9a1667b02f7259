#include "reports/html/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/html/track.h"

namespace rankfault::html {
namespace {

struct Place {
  uint64_t comm = 0, seq = 0;
  auto operator<=>(const Place&) const = default;
};

struct Waiting {  // a call that had not succeeded
  Place at;
  uint16_t op = RF_OP_NONE;
  int peer = RF_PEER_NONE;  // of its communicator
  bool inside = false;
  Instant begin, end;
  std::string text, site;
  std::vector<int> members;  // world ranks
  int own = -1;              // this rank in the communicator
};

struct Entry {
  uint16_t op = RF_OP_NONE;
  Instant begin;
};

struct Seen {                    // of one process
  std::vector<Waiting> waiting;  // in the order of their begins
  std::map<Place, Entry> entered;
  std::map<uint64_t, uint64_t> furthest;  // by communicator: the last place that it entered
  std::string inside, last;               // the call that it was inside at the end, and the last that it left
  Instant since;
};

Instant end_of_wait(const RecordedCall& call) {
  if (call.completion) return instant_of(call.completion->time_ns);
  const bool over = call.status() == CallStatus::kReturned || call.status() == CallStatus::kFailed;
  return over && call.leave ? call.left() : kEndOfTime;
}

bool takes_part(const RecordedCall& call) {
  return call.traits().communicates && (call.flags() & RF_CALL_EXECUTION) == 0 && !rf_is_wait(call.op()) &&
         call.op() != RF_OP_NONE;
}

class Reader {
 public:
  Reader(const Finding& finding, Instant until, const CommNames& names, int world_size)
      : finding_(finding), until_(until), names_(names), world_size_(world_size) {}

  Seen read(const ProcessView& process) const {
    const CallHistory history(process, OpenCalls::kByStates);
    Seen seen;
    for (const RecordedCall& call : history.calls())
      if (is_known(begin_of(call)) && begin_of(call) <= until_ && takes_part(call)) take(process, call, seen);
    std::stable_sort(seen.waiting.begin(), seen.waiting.end(),
                     [](const Waiting& a, const Waiting& b) { return a.begin < b.begin; });
    return seen;
  }

 private:
  void take(const ProcessView& process, const RecordedCall& call, Seen& seen) const {
    const CommView* const comm = call.comm() == RF_NO_COMM ? nullptr : process.comm(call.comm());
    const Place place{comm ? comm->id : 0, call.seq()};
    const Instant begin = begin_of(call), end = end_of_wait(call);
    if (!is_message(call.op())) {
      seen.entered.try_emplace(place, Entry{call.op(), begin});
      uint64_t& furthest = seen.furthest[place.comm];
      furthest = std::max(furthest, place.seq);
    }
    std::string text = op_text(call.op());
    if (call.seq() != 0 && !is_message(call.op())) text += fmt::format(" {}", call.seq());
    if (comm) text += " on " + names_.of(*comm, world_size_);
    const bool over = call.status() == CallStatus::kReturned && end <= until_;
    if (end > until_ && call.status() != CallStatus::kPending) seen.inside = text;
    if (end <= until_ && end >= seen.since) seen.last = text, seen.since = end;
    if (over || (is_known(finding_.at) && end < finding_.at)) return;
    Waiting w{place,
              call.op(),
              call.arguments() ? call.arguments()->peer : call.open->peer,
              end > until_ && call.status() != CallStatus::kPending,
              begin,
              end,
              text,
              "",
              {},
              -1};
    const uint64_t where = call.enter ? call.enter->where : call.open ? call.open->return_address : 0;
    if (const auto line = process.source_lines.find(where); line != process.source_lines.end())
      w.site = line->second;
    if (comm) members(*comm, w);
    if (call.op() == RF_OP_INIT)
      for (int rank = 0; rank < world_size_; ++rank) w.members.push_back(rank);
    if (seen.waiting.size() < 64) seen.waiting.push_back(std::move(w));
  }

  void members(const CommView& comm, Waiting& w) const {
    w.own = comm.rank;
    w.members = comm.members;
    if (w.members.empty() && static_cast<int>(comm.size) == world_size_)
      for (int rank = 0; rank < world_size_; ++rank) w.members.push_back(rank);
  }

  const Finding& finding_;
  const Instant until_;
  const CommNames& names_;
  const int world_size_;
};

// The ranks that the call needs, whether or not they came.
std::vector<int> needed(const Waiting& w) {
  const auto member = [&](int rank) -> std::vector<int> {
    if (rank < 0 || static_cast<size_t>(rank) >= w.members.size()) return {};
    return {w.members[static_cast<size_t>(rank)]};
  };
  switch (op_need(w.op)) {
    case RF_NEED_EVERYONE:
    case RF_NEED_OWED:
    case RF_NEED_OWED_REDUCED:
    case RF_NEED_EVERYONE_BY_LAUNCHER:
      return w.members;
    case RF_NEED_EVERYONE_IF_ROOT:
    case RF_NEED_OWED_IF_ROOT:
      return w.own == w.peer ? w.members : std::vector<int>{};
    case RF_NEED_ROOT_UNLESS_ROOT:
      return w.own == w.peer ? std::vector<int>{} : member(w.peer);
    case RF_NEED_LOWER_RANKS: {
      const auto below = static_cast<size_t>(std::clamp(w.own, 0, static_cast<int>(w.members.size())));
      return {w.members.begin(), w.members.begin() + static_cast<std::ptrdiff_t>(below)};
    }
    case RF_NEED_PEER:
      return member(w.peer);
    case RF_NEED_BY_MODE:
      return w.inside ? member(w.peer) : std::vector<int>{};
    default:
      return {};
  }
}

// Whether that process had entered the same operation at the same place while the call waited.
bool came(const Seen& other, const Waiting& w) {
  if (is_message(w.op)) return false;
  if (const auto at = other.entered.find(w.at); at != other.entered.end())
    return at->second.op == w.op && at->second.begin <= w.end;
  const auto furthest = other.furthest.find(w.at.comm);
  return furthest != other.furthest.end() && furthest->second > w.at.seq;
}

}  // namespace

std::vector<Stuck> stuck_ranks(const RunFacts& facts, const Finding& finding, Instant until,
                               const CommNames& names) {
  const Reader reader(finding, until, names, facts.timeline.world_size);
  std::map<int, const ProcessView*> views;
  std::map<int, Seen> seen;
  for (int rank = 0; rank < facts.timeline.world_size; ++rank)
    if (const ProcessView* process = facts.timeline.rank(finding.attempt, rank)) {
      views[rank] = process;
      seen[rank] = reader.read(*process);
    }
  std::vector<Stuck> out;
  for (int rank = 0; rank < facts.timeline.world_size; ++rank) {
    Stuck stuck;
    stuck.rank = rank;
    stuck.process = views.count(rank) != 0 ? views[rank] : nullptr;
    if (!stuck.process) stuck.state = "no record of it";
    for (const RankEnd& end : facts.ends)
      if (stuck.process && end.process == stuck.process->id && end.time <= until) {
        stuck.ended = true;
        stuck.since = end.time;
      }
    const Waiting* call = nullptr;
    for (const Waiting& w : seen[rank].waiting) {
      for (const int needs : needed(w))
        if (needs != rank && !came(seen[needs], w)) stuck.needs.insert(needs);
      if (!call || !stuck.needs.empty()) call = &w;
      if (!stuck.needs.empty()) break;
    }
    if (call) {
      stuck.state = (call->inside ? "in " : call->end <= until ? "gave up " : "waits for ") + call->text;
      stuck.site = call->site;
      stuck.op = call->text;
      stuck.since = call->begin;
    }
    const Seen& did = seen[rank];
    if (!call && stuck.process && !stuck.ended)
      stuck.state = !did.inside.empty() ? "in " + did.inside
                    : did.last.empty()  ? "outside any call, made none"
                                        : "outside any call, left " + did.last;
    for (const RankEnd& end : facts.ends)
      if (!call && stuck.ended && end.process == stuck.process->id)
        stuck.state = "ended with " + end.status.to_string();
    out.push_back(std::move(stuck));
  }
  return out;
}

}  // namespace rankfault::html
