#include "harness/diagnose/sequence/sequences.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/base/parallel.h"
#include "harness/diagnose/model/needs.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/sequence/first_difference.h"
#include "harness/diagnose/sequence/gloo_slots.h"
#include "harness/diagnose/waits/before_timeouts.h"

namespace rankfault {
namespace {

using Members = std::vector<const Member*>;

std::vector<const Call*> sequence(const Member& m, uint64_t first) {
  std::vector<const Call*> calls;
  for (const Call* c : m.calls)
    if (others_match(*c) && c->seq >= first) calls.push_back(c);
  return calls;
}

const Call* call_at(const Member& m, uint64_t seq) {
  const Call* c = m.at(seq);
  return c && others_match(*c) ? c : nullptr;
}

}  // namespace

const Call* first_unfinished(const Member& m, uint64_t from_seq) {
  for (const Call* c : m.calls)
    if (c->seq >= from_seq && others_match(*c) && !c->succeeded()) return c;
  return nullptr;
}

namespace {

// Whether the member reached the orderly end of the communicator, and not because a call on it had failed.
bool left_in_order(const Member& m, const CommGroup& group) {
  if (!m.comm->destroyed && !finalized(*m.process, group) &&
      end_of(*m.process, group).why != End::Why::kFinalized)
    return false;
  return std::none_of(m.calls.begin(), m.calls.end(),
                      [](const Call* c) { return c->status == Call::Status::kFailed; });
}

// Whether the member has stopped making calls on this communicator by its own decision.
bool finished(const Member& m, const CommGroup& group) {
  if (!m.comm) return false;
  const ProcessEnd& end = m.process->view->end;
  if (m.process->ended() && (!end.status_known || end.by_signal || end.execed)) return false;
  return left_in_order(m, group) || (m.process->ended() && end.value == 0);
}

bool exited_with_error(const Member& m) { return m.process->ended() && m.process->view->end.value != 0; }

class Tokens {
 public:
  explicit Tokens(bool with_steps) : with_steps_(with_steps) {}
  std::vector<Token> of(const Member& m, const std::vector<const Call*>& calls) {
    std::vector<Token> tokens;
    for (const Call* c : calls) {
      const bool local = c->flags() & (RF_CALL_RANK_LOCAL | RF_CALL_COUNT_UNKNOWN);
      const auto kind = static_cast<uint16_t>(c->op() | (c->flags() & RF_CALL_NONBLOCKING ? 0x8000 : 0));
      const std::string place = place_of(*m.process, *c);
      const uint64_t count = local ? 0 : c->count();
      tokens.push_back({intern({kind, c->dtype(), count, c->peer(), c->reduce_op(), place}),
                        intern({kind, c->dtype(), count, c->peer(), c->reduce_op(), ""}),
                        with_steps_ ? c->step : 0, place.empty() ? 0 : 1 + intern({0, 0, 0, -8, 0, place}),
                        c->op()});
    }
    return tokens;
  }

 private:
  using Key = std::tuple<uint16_t, uint8_t, uint64_t, int, uint8_t, std::string>;
  int intern(Key key) {
    return ids_.try_emplace(std::move(key), static_cast<int>(ids_.size())).first->second;
  }
  bool with_steps_;
  std::map<Key, int> ids_;
};

// Members whose calls at one position fit each other.
struct CampAt {
  Members members;
  CallsAtOnePlace calls;
};

// A call that fits every side belongs to none, unless its type is that of one side: in a gather, the senders
// that send what the root takes belong to the root's side.
void take_out_those_that_fit_all(std::vector<CampAt>& camps, uint64_t seq) {
  if (camps.size() < 2) return;
  Members fit_all;
  for (CampAt& camp : camps)
    std::erase_if(camp.members, [&](const Member* m) {
      const bool fits = std::all_of(camps.begin(), camps.end(), [&](const CampAt& other) {
        return &other == &camp || other.calls.difference_from(*call_at(*m, seq)).empty();
      });
      if (fits) fit_all.push_back(m);
      return fits;
    });
  std::vector<std::pair<CampAt*, const Member*>> back;
  for (const Member* m : fit_all)
    for (CampAt& camp : camps)
      if (std::any_of(camp.members.begin(), camp.members.end(), [&](const Member* own) {
            return call_at(*own, seq)->dtype() == call_at(*m, seq)->dtype();
          })) {
        back.emplace_back(&camp, m);
        break;
      }
  for (const auto& [camp, m] : back) camp->members.push_back(m);
}

std::vector<Members> sides_at(const CommGroup& group, uint64_t seq) {
  std::vector<CampAt> camps;
  for (const Member& m : group.members) {
    const Call* c = call_at(m, seq);
    if (!c) continue;
    auto camp = std::find_if(camps.begin(), camps.end(),
                             [&](const CampAt& one) { return one.calls.difference_from(*c).empty(); });
    if (camp == camps.end()) camp = camps.insert(camps.end(), CampAt{});
    camp->members.push_back(&m);
    camp->calls.add(*c);
  }
  take_out_those_that_fit_all(camps, seq);
  std::vector<Members> sides;
  for (CampAt& camp : camps) {
    std::sort(camp.members.begin(), camp.members.end());  // in the order of the communicator
    if (!camp.members.empty()) sides.push_back(std::move(camp.members));
  }
  return sides;
}

// Returns the field of the first member of the minority whose call differs from one of the majority.
std::string differing_field(const Divergence& d) {
  CallsAtOnePlace calls;
  for (const Member* m : d.majority) calls.add(*call_at(*m, d.seq));
  for (const Member* m : d.minority)
    if (std::string field = calls.difference_from(*call_at(*m, d.seq)); !field.empty()) return field;
  return "";
}

bool is_lone_root(const Members& side, uint64_t seq) {
  if (side.size() != 1) return false;
  const Call* c = call_at(*side.front(), seq);
  const rf_need need = op_need(c->op());
  const bool rooted =
      need == RF_NEED_ROOT_UNLESS_ROOT || need == RF_NEED_EVERYONE_IF_ROOT || need == RF_NEED_OWED_IF_ROOT;
  return rooted && c->peer() == side.front()->rank;
}

// For two ranks: the root has completed its call and continues with a call that differs from the other
// rank's. So nothing shows that the root is a victim: each rank made its own call.
bool stands_beside_another_call(const Divergence& d) {
  if (d.majority.size() != 1) return false;
  const Member& root = *d.minority.front();
  const Call* after = call_at(root, d.seq + 1);
  return call_at(root, d.seq)->succeeded() && after &&
         !difference(*after, *call_at(*d.majority.front(), d.seq)).empty();
}

void split(Divergence& d, std::vector<Members> sides) {
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Members& a, const Members& b) { return a.size() > b.size(); });
  d.majority = sides.front();
  for (size_t i = 1; i < sides.size(); ++i)
    d.minority.insert(d.minority.end(), sides[i].begin(), sides[i].end());
  d.tie = d.minority.size() >= d.majority.size();
  d.all_differ = sides.size() > 2 && d.majority.size() == 1;
  if (sides.size() != 2) return;
  for (const size_t i : {1, 0}) {
    if (!is_lone_root(sides[i], d.seq)) continue;
    // Other members did come to the same operation, with other arguments.
    if (call_at(*sides[1 - i].front(), d.seq)->op() == call_at(*sides[i].front(), d.seq)->op()) continue;
    d.lone_root = true;
    d.tie = false;
    d.minority = sides[i];
    d.majority = sides[1 - i];
    return;
  }
}

const Member* longest(const Members& side) {
  return *std::max_element(side.begin(), side.end(), [](const Member* a, const Member* b) {
    return a->calls.size() < b->calls.size();
  });
}

void align(Divergence& d, bool with_steps) {
  const uint64_t first = d.group->first_seq();
  const Member& mine = *d.minority.front();
  const Member& other = *longest(d.majority);
  const std::vector<const Call*> my_calls = sequence(mine, first), others = sequence(other, first);
  Tokens tokens(with_steps);
  const std::vector<Token> a = tokens.of(mine, my_calls), b = tokens.of(other, others);
  d.alignment = explain(a, b, finished(mine, *d.group));
  const std::vector<const Call*>& where = d.alignment.kind == Alignment::Kind::kMissing ? others : my_calls;
  d.from = d.alignment.from < where.size() ? where[d.alignment.from]->seq : d.seq;
  d.to = d.alignment.to < where.size() ? where[d.alignment.to]->seq : d.seq;
  if (d.alignment.to < where.size()) d.named = where[d.alignment.to];
}

Instant first_time(const Divergence& d) {
  Instant at = kEndOfTime;
  for (const Members* side : {&d.majority, &d.minority})
    for (const Member* m : *side)
      if (const Call* c = call_at(*m, d.seq)) at = std::min(at, c->entered);
  return at == kEndOfTime ? Instant{} : at;
}

// Whether its last call, on another communicator, failed. That explains why it came no further here; it
// omitted nothing.
bool gave_up_elsewhere(const Member& m) {
  const Call* last = gave_up_in(*m.process);
  return last && last->comm() != m.comm->index;
}

}  // namespace

bool gave_up_on(const Member& m) {
  const auto& calls = m.process->calls;
  const bool ends_it = std::any_of(calls.begin(), calls.end(), [&](const Call& c) {
    return (c.op() == RF_OP_COMM_ABORT || c.op() == RF_OP_COMM_REVOKE) && c.comm() == m.comm->index;
  });
  return ends_it && first_unfinished(m, 0) != nullptr;
}

namespace {

bool left_voluntarily(const Member& m, const CommGroup& group) {
  return finished(m, group) && !gave_up_elsewhere(m) && !gave_up_on(m);
}

// Whether the member has left the free of the communicator in which the others still are. It came, too.
bool freed_what_others_free(const Member& m, uint64_t seq, const Members& others) {
  const Call* own = m.at(seq);
  return own && own->op() == RF_OP_COMM_FREE && !others.empty() &&
         std::all_of(others.begin(), others.end(),
                     [&](const Member* other) { return call_at(*other, seq)->op() == RF_OP_COMM_FREE; });
}

// Whether some members made, or wait in, a call that finished members never entered.
bool did_not_come(const CommGroup& group, uint64_t first, Divergence& d) {
  uint64_t longest_seq = 0, shortest = ~uint64_t{0};
  for (const Member& m : group.members)
    if (m.comm)
      for (const Call* c : m.calls)
        if (others_match(*c)) longest_seq = std::max(longest_seq, c->seq);
  for (const Member& m : group.members) {
    if (!m.comm || !left_voluntarily(m, group)) continue;
    uint64_t last = 0;
    for (const Call* c : m.calls)
      if (others_match(*c)) last = std::max(last, c->seq);
    if (m.calls.empty()) last = m.last_entered();
    if (last < longest_seq) shortest = std::min(shortest, last);
  }
  if (shortest == ~uint64_t{0} || shortest + 1 < first) return false;
  d.seq = shortest + 1;
  Members came, absent;
  size_t undecided = 0;  // neither came nor finished: either side may become the larger one
  bool waits = false, over = true;
  for (const Member& m : group.members) {
    if (!m.comm) continue;
    if (call_at(m, d.seq)) {
      came.push_back(&m);
      waits = waits || first_unfinished(m, d.seq) != nullptr;
    } else if (left_voluntarily(m, group) && m.last_entered() <= d.seq) {
      absent.push_back(&m);
    } else {
      ++undecided;
    }
    over = over && finished(m, group);
  }
  const size_t freed =
      std::erase_if(absent, [&](const Member* m) { return freed_what_others_free(*m, d.seq, came); });
  if (came.empty() || absent.empty() || !(waits || over)) return false;
  const bool in_order =
      std::any_of(absent.begin(), absent.end(), [&](const Member* m) { return left_in_order(*m, group); });
  const bool failed =
      std::any_of(absent.begin(), absent.end(), [](const Member* m) { return exited_with_error(*m); });
  d.minority = std::move(absent);
  d.majority = std::move(came);
  d.tie = d.minority.size() + undecided >= d.majority.size() + freed;
  if (is_lone_root(d.majority, d.seq)) {
    std::swap(d.minority, d.majority);  // sides as in a difference: the root is alone
    d.lone_root = true;
    d.tie = false;
    d.from = d.to = d.seq;
    d.named = call_at(*d.minority.front(), d.seq);
    return true;
  }
  const bool steps = std::any_of(d.majority.begin(), d.majority.end(),
                                 [](const Member* m) { return m->process->view->steps_begun != 0; });
  align(d, steps);
  // A member that did not leave the communicator in order, or exited with an error, left early, unless the
  // calls show that it made later ones: a failing process destroys its communicators before it ends.
  const size_t made = sequence(*d.minority.front(), group.first_seq()).size();
  return !((!in_order && waits) || failed) || d.alignment.to < made;
}

// The calls of a callback have no record: from there on our places differ from the library's.
bool places_are_known(const Member& m) { return !m.process || !(m.process->view->opaque & RF_OPAQUE_NESTED); }

bool diverges(const CommGroup& group, Divergence& d) {
  if (!std::all_of(group.members.begin(), group.members.end(), places_are_known)) return false;
  d.group = &group;
  const uint64_t first = group.first_seq();
  const bool steps = std::any_of(group.members.begin(), group.members.end(),
                                 [](const Member& m) { return m.comm && m.process->view->steps_begun != 0; });
  const auto is_broken = [&](uint64_t seq) { return group.broken_from != 0 && seq >= group.broken_from; };
  const uint64_t seq = first_difference(group);
  if (seq != 0 && !(group.traits().pairing == Pairing::kBySlot && each_meets_its_like(group, seq))) {
    if (is_broken(seq)) return false;
    d.seq = seq;
    d.pairs_differ = true;
    split(d, sides_at(group, seq));
    if (d.minority.empty()) return false;
    d.field = differing_field(d);
    align(d, steps);
    // If the root ran ahead because it omitted the call that the others are in, it is not their victim.
    const bool beside = d.lone_root && stands_beside_another_call(d);
    if (d.lone_root && (d.alignment.as_before || beside)) {
      d.lone_root = false;
      d.tie = d.minority.size() >= d.majority.size();
    }
    // If no two members agree on a call, the alignment cannot name a missing or extra call.
    if (d.all_differ || (beside && !d.alignment.seen)) d.alignment = {};
    if (d.lone_root) {
      d.alignment = {};
      d.from = d.to = seq;
      d.named = call_at(*d.minority.front(), seq);
    }
    d.at = first_time(d);
    return true;
  }
  if (!did_not_come(group, first, d) || is_broken(d.seq)) return false;
  d.at = first_time(d);
  return true;
}

}  // namespace

bool is_blamed_in(const std::vector<Divergence>& all, const Process& process) {
  for (const Divergence& d : all) {
    if (d.alignment.kind != Alignment::Kind::kMissing && !d.lone_root) continue;
    for (const Member* m : d.lone_root ? d.majority : d.minority)
      if (m->process == &process) return true;
  }
  return false;
}

const std::vector<Divergence>& JobView::divergences() const {
  if (divergences_) return *divergences_;
  std::vector<std::optional<Divergence>> of(comms_.size());
  in_parallel(comms_.size(), [&](size_t i) {
    if (Divergence d; diverges(comms_[i], d)) of[i] = std::move(d);
  });
  auto found = std::make_shared<std::vector<Divergence>>();
  for (std::optional<Divergence>& d : of)
    if (d) found->push_back(std::move(*d));
  divergences_ = std::move(found);
  return *divergences_;
}

}  // namespace rankfault
