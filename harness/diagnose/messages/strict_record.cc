#include "harness/diagnose/messages/strict_record.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/sequence/sequences.h"

namespace rankfault {
namespace {

bool ended_well(const ProcessView& p) {
  return p.stage == RF_STAGE_FINALIZED && p.end.kind == EndKind::kEnded && p.end.status_known &&
         !p.end.by_signal && p.end.value == 0;
}

// RF_OPAQUE_OTHER: datatypes, error handlers and similar calls, which do not communicate.
bool is_whole(const ProcessView& p) {
  return p.history_lost == 0 && p.partial == 0 && !p.polled && (p.opaque & ~uint32_t{RF_OPAQUE_OTHER}) == 0;
}

bool begins_or_ends(uint16_t op) { return op == RF_OP_INIT || op == RF_OP_FINALIZE; }

// Whether another run may behave differently at this call.
bool leaves_a_choice(const Call& c) {
  switch (c.op()) {
    case RF_OP_RECV:
    case RF_OP_PROBE:
    case RF_OP_SENDRECV:
      return any_source(c) || (c.op() == RF_OP_SENDRECV && c.recv_peer() >= 0 && c.recv_tag() == kTagUnknown);
    case RF_OP_WAIT_ANY:
    case RF_OP_COMM_ABORT:
    case RF_OP_COMM_REVOKE:
    case RF_OP_COMM_SHRINK:
    case RF_OP_COMM_AGREE:
      return true;
    default:
      return c.status == Call::Status::kFailed;
  }
}

// Returns the process's MPI calls in the order of its only thread; nothing if the record is not sufficient.
std::optional<std::vector<const Call*>> calls_of(const Process& p) {
  std::vector<const Call*> calls;
  for (const Call& c : p.calls) {
    if (c.traits().is_of_files || c.traits().is_of_marks) continue;
    if (!c.traits().may_not_buffer || leaves_a_choice(c)) return std::nullopt;
    if (begins_or_ends(c.op())) continue;
    if (!calls.empty() && calls.back()->lane != c.lane) return std::nullopt;
    calls.push_back(&c);
  }
  return calls;
}

// Returns the calls that each wait completed, by the number of the wait: completions are recorded inside the
// wait.
std::unordered_map<uint32_t, std::vector<uint64_t>> completed_in_waits(const Process& p) {
  std::unordered_map<uint32_t, std::vector<uint64_t>> completed;
  std::map<uint32_t, uint32_t> open;  // lane -> number of the wait it is in
  for (const Event& e : p.view->events().value_or(std::vector<Event>{})) {
    const rf_record& r = e.record;
    if (r.phase == RF_PHASE_ENTER && rf_is_wait(r.op)) open[e.lane] = r.call;
    if (r.phase == RF_PHASE_EXIT && rf_is_wait(r.op)) open.erase(e.lane);
    const auto in = open.find(e.lane);
    if (in != open.end() && r.phase == RF_PHASE_COMPLETE && r.op == RF_OP_NONE && r.where != 0)
      completed[in->second].push_back(r.where);
  }
  return completed;
}

// The standard allows these calls to wait for all members of the communicator.
bool may_synchronise(const Call& c) {
  const bool neighbor = c.op() >= RF_OP_NEIGHBOR_ALL_GATHER && c.op() <= RF_OP_NEIGHBOR_ALL_TO_ALLW;
  if (c.op() == RF_OP_NEIGHBOR || neighbor) return false;
  return (is_collective(c.op()) || c.op() == RF_OP_COMM_CREATE) && c.seq != 0;
}

class Reader {
 public:
  explicit Reader(const JobView& job) : job_(job) {}

  std::optional<StrictRecord> read() {
    for (const auto& p : job_.processes()) {
      if (!p->member()) continue;
      if (!ended_well(*p->view) || !is_whole(*p->view) || job_.rank(p->rank()) != p.get() || !add(*p))
        return std::nullopt;
    }
    for (const ExpectedRank& e : job_.timeline().expected) {
      const Process* p = job_.rank(e.rank);
      if (e.attempt == job_.attempt() && (!p || !p->member())) return std::nullopt;
    }
    if (record_.ranks.empty() || !meet() || !pair()) return std::nullopt;
    return std::move(record_);
  }

 private:
  using Pair = std::tuple<const CommGroup*, int, int>;  // sender, receiver
  struct Mail {
    std::vector<StrictPlace> sends, receives;  // receives: also probes
  };

  StrictCall& at(StrictPlace p) { return record_.ranks[p.rank][p.at]; }

  bool add(const Process& process) {
    const auto calls = calls_of(process);
    if (!calls) return false;
    const size_t rank = record_.ranks.size();
    const auto completed = completed_in_waits(process);
    std::unordered_map<uint64_t, size_t> by_origin;
    std::vector<StrictCall>& mine = record_.ranks.emplace_back();
    mine.reserve(calls->size());
    for (const Call* c : *calls) {
      StrictCall& s = mine.emplace_back();
      s.call = c;
      by_origin[RF_ORIGIN(c->lane, c->number)] = mine.size() - 1;
      s.leaves_at_once = c->flags() & (RF_CALL_NONBLOCKING | RF_CALL_BUFFERED);
      if (rf_is_wait(c->op())) {
        if (const auto done = completed.find(c->number); done != completed.end())
          for (const uint64_t origin : done->second)
            if (const auto of = by_origin.find(origin); of != by_origin.end())
              s.waits_for.push_back({rank, of->second});
        continue;
      }
      s.group = job_.group(process, c->comm());
      s.member = s.group ? s.group->of(process) : nullptr;
      if (!file(s, {rank, mine.size() - 1})) return false;
    }
    return true;
  }

  // Files the call with those that it may pair with. Returns false if these cannot be known.
  bool file(StrictCall& s, StrictPlace place) {
    const Call& c = *s.call;
    const bool between_groups = s.group && s.group->flags & RF_COMM_INTER;
    if (between_groups) return true;  // holds no rank on either side
    if (is_message(c.op())) {
      const bool out = sends(c) && c.peer() >= 0, in = c.op() == RF_OP_PROBE || receives(c);
      const int source = in ? source_of(c) : RF_PEER_NULL;
      if (!out && source < 0) return true;
      if (!s.member) return false;
      if (out) mail_[{s.group, s.member->rank, c.peer()}].sends.push_back(place);
      if (source >= 0) mail_[{s.group, source, s.member->rank}].receives.push_back(place);
      return true;
    }
    if (!may_synchronise(c)) return true;
    if (!s.member) return !is_collective(c.op());
    places_[{s.group, c.seq}].push_back(place);
    return true;
  }

  // Whether every member made each collective, and the same one.
  bool meet() {
    for (auto& [where, all] : places_) {
      if (all.size() != where.first->size) return false;
      CallsAtOnePlace calls;
      for (const StrictPlace& p : all) {
        if (!calls.add(*at(p).call).empty()) return false;
        at(p).meeting = record_.meetings.size();
      }
      record_.meetings.push_back(std::move(all));
    }
    return true;
  }

  // Messages of one sender on one communicator match the receives that fit them in order (MPI 4.1, 3.5): the
  // pairs do not depend on which side comes first.
  bool pair() {
    return std::all_of(mail_.begin(), mail_.end(), [&](const auto& of) { return pair_one(of.second); });
  }

  bool pair_one(const Mail& mail) {
    std::map<int, std::deque<StrictPlace>> sent;  // by tag
    for (const StrictPlace& s : mail.sends) sent[at(s).call->tag()].push_back(s);
    size_t left = mail.sends.size();
    for (const StrictPlace& r : mail.receives) {
      const Call& c = *at(r).call;
      auto fits = c.flags() & RF_CALL_ANY_TAG ? first_of(sent) : sent.find(receive_tag(c));
      if (fits == sent.end() || fits->second.empty()) return false;
      const StrictPlace s = fits->second.front();
      at(r).needs.push_back(s);
      if (c.op() == RF_OP_PROBE) continue;
      if (!(at(s).call->flags() & RF_CALL_BUFFERED)) at(s).needs.push_back(r);
      fits->second.pop_front();
      --left;
    }
    return left == 0;  // another finding reports a message that no rank received
  }

  static std::map<int, std::deque<StrictPlace>>::iterator first_of(
      std::map<int, std::deque<StrictPlace>>& sent) {
    auto first = sent.end();
    for (auto i = sent.begin(); i != sent.end(); ++i)
      if (!i->second.empty() && (first == sent.end() || i->second.front().at < first->second.front().at))
        first = i;
    return first;
  }

  const JobView& job_;
  StrictRecord record_;
  std::map<Pair, Mail> mail_;
  std::map<std::pair<const CommGroup*, uint64_t>, std::vector<StrictPlace>> places_;
};

}  // namespace

std::optional<StrictRecord> strict_record(const JobView& job) { return Reader(job).read(); }

}  // namespace rankfault
