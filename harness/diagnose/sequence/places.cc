#include "harness/diagnose/sequence/places.h"

#include <algorithm>
#include <tuple>

#include "harness/diagnose/sequence/readings.h"
#include "harness/diagnose/waits/before_timeouts.h"

namespace rankfault {
namespace {

using namespace readings;

bool has_failed(const Member& m) {
  return std::any_of(m.calls.begin(), m.calls.end(), [](const Call* c) { return failed(*c); });
}

int64_t failures(const Member& m) {
  return lost_failures(m) +
         std::count_if(m.calls.begin(), m.calls.end(), [](const Call* c) { return failed(*c); });
}

// One reading of each member, compared with the members before it.
struct Readings {
  std::vector<std::pair<Member*, Reading>> all;

  bool all_agree() const {
    return std::all_of(all.begin(), all.end(),
                       [](const auto& one) { return one.second.agrees == ~size_t{0}; });
  }
  bool agree_longer_than(const Readings& other) const {
    const auto bad = [](const Readings& r) {
      return std::count_if(r.all.begin(), r.all.end(),
                           [](const auto& one) { return one.second.agrees != ~size_t{0}; });
    };
    const auto least = [](const Readings& r) {
      size_t agrees = ~size_t{0};
      for (const auto& [m, reading] : r.all) agrees = std::min(agrees, reading.agrees);
      return agrees;
    };
    return bad(*this) != bad(other) ? bad(*this) < bad(other) : least(*this) > least(other);
  }
};

// The current readings of all members, and the same without one of them.
class Others {
 public:
  explicit Others(const Readings& readings) : readings_(readings) {
    for (const auto& [m, reading] : readings_.all) lost_.push_back(lost_places(*m));
    take_all();
  }
  // Members with certain places come first.
  void take_all() {
    all_ = {};
    last_.assign(lost_.size(), ~uint64_t{0});
    for (const bool unsure : {false, true})
      for (size_t i = 0; i < lost_.size(); ++i)
        if (const auto& [m, reading] = readings_.all[i]; (m->unsure_from != 0) == unsure)
          last_[i] = take_calls(all_, *m, reading);
  }
  const Reference& without(size_t i) {
    all_.without = readings_.all[i].first;
    all_.lost = 0;
    all_.last = ~uint64_t{0};
    for (size_t k = 0; k < lost_.size(); ++k) {
      if (k == i) continue;
      all_.lost = std::max(all_.lost, lost_[k]);
      all_.last = std::min(all_.last, last_[k]);
    }
    return all_;
  }

 private:
  const Readings& readings_;
  Reference all_;
  std::vector<int64_t> lost_;
  std::vector<uint64_t> last_;
};

// Reads each member again, beside all the others: a call that fits one member in both readings may fit
// another in only one.
void read_again(Readings& readings, const CommGroup& group) {
  constexpr int kRounds = 3;
  constexpr std::ptrdiff_t kMost = 64;
  const auto is_unsure = [](const auto& one) { return one.first->unsure_from != 0; };
  const auto unsure = std::count_if(readings.all.begin(), readings.all.end(), is_unsure);
  if (unsure == 0 || unsure > kMost) return;
  Others others(readings);
  for (int round = 0; round < kRounds && (round == 0 || !readings.all_agree()); ++round)
    for (size_t i = 0; i < readings.all.size(); ++i) {
      auto& [m, reading] = readings.all[i];
      if (m->unsure_from == 0) continue;
      Reading again = read(*m, others.without(i), group);
      const bool changed = again.lost != reading.lost || again.refused != reading.refused;
      reading = std::move(again);
      if (changed) others.take_all();
    }
}

Readings read_all(const std::vector<Member*>& members, const CommGroup& group, bool first_refused) {
  Readings readings;
  Reference ref;
  for (const Member* m : members)  // an upper bound, whatever is read as refused
    if (is_over(*m))
      ref.last = std::min(ref.last, last_made(*m) + static_cast<uint64_t>(lost_places(*members.front())));
  for (Member* m : members) {
    Reading reading = m == members.front() ? read_alike(*m, first_refused) : read(*m, ref, group);
    take(ref, *m, reading);
    readings.all.emplace_back(m, std::move(reading));
  }
  return readings;
}

// Sorts the members with the fewest failed calls first, and among them those with the most calls.
std::vector<Member*> most_certain_first(CommGroup& group) {
  std::vector<Member*> members;
  for (Member& m : group.members)
    if (m.comm && m.process) members.push_back(&m);
  std::stable_sort(members.begin(), members.end(), [](const Member* a, const Member* b) {
    const auto key = [](const Member& m) { return std::tuple(failures(m), !is_over(m), ~m.comm->entered); };
    return key(*a) < key(*b);
  });
  return members;
}

// Gives the member's calls the places of this reading.
void apply(Member& m, const Reading& reading, Process& own) {
  int64_t shift = -reading.lost;
  size_t next = 0;
  std::vector<const Call*> placed;
  for (const Call* c : m.calls) {
    Call& call = own.calls[static_cast<size_t>(c - own.calls.data())];
    const bool refused = failed(*c) && next < reading.refused.size() && reading.refused[next];
    if (failed(*c)) ++next;
    if (failed(*c) && m.unsure_from == 0) m.unsure_from = std::max<uint64_t>(1, moved(c->seq, shift));
    if (refused) {
      --shift;
      call.seq = 0;
      continue;
    }
    call.seq = std::max<uint64_t>(1, moved(c->seq, shift));
    placed.push_back(c);
  }
  m.calls = std::move(placed);
  m.shift = shift;
  m.may_be_lower = std::max<int64_t>(0, shift - reading.least_shift);
  m.may_be_higher = std::max<int64_t>(0, reading.most_shift - shift);
}

// Returns the first place at which the communicator is no longer an ordinary one: a member revoked it before,
// or began to repair it (MPI's user-level failure mitigation) after its own call on it had failed.
uint64_t first_broken(CommGroup& group) {
  uint64_t from = 0;
  const auto take = [&](uint64_t place) { from = from == 0 ? place : std::min(from, place); };
  for (const Member& m : group.members) {
    if (!m.comm || !m.process) continue;
    for (const Call& c : m.process->calls) {
      if (c.op() != RF_OP_COMM_REVOKE || c.comm() != m.comm->index) continue;
      group.revoked = true;
      uint64_t before = 0;
      for (const Call* other : m.calls)
        if (other->entered < c.entered) before = std::max(before, other->seq);
      take(before + 1);
    }
    if (m.unsure_from == 0) continue;
    for (const Call* c : m.calls)
      if ((c->op() == RF_OP_COMM_SHRINK || c->op() == RF_OP_COMM_AGREE) && c->seq >= m.unsure_from)
        take(c->seq);
  }
  return from;
}

bool fits_at_its_place(const Member& m, const Reading& reading, const Reference& ref,
                       const CommGroup& group) {
  int64_t shift = -reading.lost;
  size_t next = 0;
  for (const Call* c : m.calls) {
    if (failed(*c) && reading.refused[next++])
      --shift;
    else if (!fits(*c, moved(c->seq, shift), m, ref, group))
      return false;
  }
  return true;
}

// The members were read one after the other. Checks that the results fit together.
bool all_fit(const Readings& readings, const CommGroup& group) {
  Reference ref;
  for (const auto& [m, reading] : readings.all) {
    if (!fits_at_its_place(*m, reading, ref, group)) return false;
    take(ref, *m, reading);
  }
  return true;
}

// If calls of several members may have been refused, and no tried reading fits all of them, a mistake of the
// program looks like one more refused call. Nothing is compared from the first such call on.
uint64_t first_undecided(const CommGroup& group, const Readings& readings) {
  if (all_fit(readings, group)) return 0;
  uint64_t from = 0;
  int unsure = 0;
  for (const Member& m : group.members) {
    if (m.unsure_from == 0) continue;
    const auto may_be = [&](const Call* c) { return may_be_refused(m, *c); };
    if (std::none_of(m.calls.begin(), m.calls.end(), may_be) && lost_failures(m) == 0) continue;
    ++unsure;
    from = from == 0 ? m.unsure_from : std::min(from, m.unsure_from);
  }
  return unsure > 1 ? from : 0;
}

}  // namespace

bool ended_by(const Member& m, const Call& c) {
  return failed(c) && m.process->ended_badly() && gave_up_in(*m.process) == &c;
}

void settle_places(CommGroup& group, const std::function<Process&(const Process&)>& own) {
  if (group.traits().pairing == Pairing::kByNumberOfLibrary || group.flags & RF_COMM_INTER) return;
  bool any = false;
  uint64_t undecided = 0;
  for (Member& m : group.members) {
    if (!m.comm || !m.process) continue;
    if (lost_failures(m) > 0) m.unsure_from = 1;
    for (const Call* c : m.calls)
      if (failed(*c) && m.unsure_from == 0) {
        m.unsure_from = c->seq;
        m.first_failed = c;
      }
    any = any || m.unsure_from != 0;
  }
  if (any && !group.traits().refuses_alone) {
    const std::vector<Member*> members = most_certain_first(group);
    Readings readings = read_all(members, group, false);
    if (has_failed(*members.front())) {
      Readings refused = read_all(members, group, true);
      if (refused.agree_longer_than(readings)) readings = std::move(refused);
    }
    read_again(readings, group);
    undecided = first_undecided(group, readings);
    for (const auto& [m, reading] : readings.all)
      if (m->unsure_from != 0) apply(*m, reading, own(*m->process));
  }
  if (group.traits().repair_ends_order) group.broken_from = first_broken(group);
  if (undecided != 0 && (group.broken_from == 0 || undecided < group.broken_from))
    group.broken_from = undecided;
}

}  // namespace rankfault
