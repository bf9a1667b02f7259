// places: see places.h.
#include "harness/diagnose/places.h"

#include <algorithm>
#include <tuple>

#include "harness/diagnose/needs.h"
#include "harness/diagnose/rewound.h"
#include "harness/diagnose/sequences.h"

namespace rankfault {
namespace {

constexpr size_t kMostReadings = 16;  // that are followed side by side
constexpr int64_t kMostLost = 8;      // failed calls, no longer on record, that are tried as refused ones

bool failed(const Call& c) { return c.status == Call::Status::kFailed; }
bool ends_a_sequence(const Call& c) { return c.op() == RF_OP_FINALIZE || c.op() == RF_OP_COMM_FREE; }

bool has_failed(const Member& m) {
  return std::any_of(m.calls.begin(), m.calls.end(), [](const Call* c) { return failed(*c); });
}

// How many failed calls are no longer on record. Of an older record, which did not count them, one at least.
int64_t lost_failures(const Member& m) {
  if (!m.comm || m.process->view->history_lost == 0 || m.comm->error == 0) return 0;
  const auto kept = std::count_if(m.process->calls.begin(), m.process->calls.end(),
                                  [&](const Call& c) { return c.comm() == m.comm->index && failed(c); });
  if (m.comm->failures == 0) return 1;
  return std::max<int64_t>(0, static_cast<int64_t>(m.comm->failures) - kept);
}

// How many of these may have been counted, and refused: a message that fails has no place anyway.
int64_t lost_places(const Member& m) {
  const int64_t calls = static_cast<int64_t>(m.comm->entered) - static_cast<int64_t>(m.calls.size());
  return std::min({lost_failures(m), calls, kMostLost});
}

bool is_over(const Member& m) {
  return m.comm->destroyed || m.process->view->stage == RF_STAGE_FINALIZED ||
         (m.process->ended() && !m.process->ended_badly());
}

// What a reading is compared with: the calls of those members that have their places, by place.
struct Reference {
  struct Entry {
    const Member* member = nullptr;  // null: nobody's call is on record
    const Call* call = nullptr;
  };
  std::vector<Entry> entries;  // from `first` on
  uint64_t first = 1;
  uint64_t last = ~uint64_t{0};  // a member that is over made none after it
  int64_t lost = 0;              // how many of its places may be too many: of calls that are not on record

  Entry at(uint64_t place) const {
    return place < first || place - first >= entries.size() ? Entry{} : entries[place - first];
  }
  void add(uint64_t place, Entry entry) {
    if (entries.empty()) first = place;
    if (place < first) {
      entries.insert(entries.begin(), first - place, Entry{});
      first = place;
    }
    if (place - first >= entries.size()) entries.resize(place - first + 1);
    if (!entries[place - first].call) entries[place - first] = entry;
  }
};

// A call that needs the other's part cannot return before it was entered.
bool before_its_time(const Call& c, const Member& m, const Call& other, const Member& of,
                     const CommGroup& group) {
  return c.succeeded() && c.left != 0 && c.left < other.entered && needs_of(c, m, group).certainly(of.rank);
}

bool fits(const Call& c, uint64_t place, const Member& m, const Reference& ref, const CommGroup& group) {
  if (ends_a_sequence(c)) return true;
  if (place > ref.last) return false;
  const auto [member, other] = ref.at(place);
  if (!other || ends_a_sequence(*other)) return true;
  return difference(*other, c).empty() && !before_its_time(c, m, *other, *member, group) &&
         !before_its_time(*other, *member, c, m, group);
}

struct Reading {
  int64_t shift = 0;           // of the calls that come next
  int64_t lost = 0;            // calls that are not on record, taken for refused ones; < 0: of the others
  std::vector<bool> refused;   // of each failed call
  size_t agrees = ~size_t{0};  // index of the first call that does not fit
  // The shifts of all readings that fit as well as this one.
  int64_t least_shift = 0, most_shift = 0;

  int64_t cost() const { return std::abs(lost) + std::count(refused.begin(), refused.end(), true); }
};

// The one that agrees longest; of equals the one that takes the fewest calls for refused ones.
bool better(const Reading& a, const Reading& b) {
  return a.agrees != b.agrees ? a.agrees > b.agrees : a.cost() < b.cost();
}

void keep_the_best(std::vector<Reading>& all) {
  std::stable_sort(all.begin(), all.end(), better);
  if (all.size() > kMostReadings) all.resize(kMostReadings);
}

void read_failed(std::vector<Reading>& all, bool may_be_refused) {
  std::vector<Reading> more;
  for (Reading& r : all) {
    if (may_be_refused && r.agrees == ~size_t{0}) {
      more.push_back(r);
      more.back().refused.push_back(true);
      --more.back().shift;
    }
    r.refused.push_back(false);
  }
  all.insert(all.end(), more.begin(), more.end());
}

uint64_t moved(uint64_t place, int64_t by) { return static_cast<uint64_t>(static_cast<int64_t>(place) + by); }

Reading read(const Member& m, const Reference& ref, const CommGroup& group) {
  std::vector<Reading> all;
  for (int64_t lost = -ref.lost; lost <= lost_places(m); ++lost) {
    Reading r;
    r.shift = -lost;
    r.lost = lost;
    all.push_back(std::move(r));
  }
  for (size_t i = 0; i < m.calls.size(); ++i) {
    const Call& c = *m.calls[i];
    const size_t before = all.size();
    if (failed(c)) read_failed(all, !ended_by(m, c));
    for (size_t k = 0; k < before; ++k) {  // those in which it has a place
      Reading& r = all[k];
      if (r.agrees == ~size_t{0} && !fits(c, moved(c.seq, r.shift), m, ref, group)) r.agrees = i;
    }
    if (all.size() > kMostReadings) keep_the_best(all);
  }
  keep_the_best(all);
  Reading best = all.front();
  best.least_shift = best.most_shift = best.shift;
  for (const Reading& r : all) {
    if (r.agrees != best.agrees) continue;
    best.least_shift = std::min(best.least_shift, r.shift);
    best.most_shift = std::max(best.most_shift, r.shift);
  }
  return best;
}

// The place of its last call, as it counts itself.
uint64_t last_made(const Member& m) {
  for (auto c = m.calls.rbegin(); c != m.calls.rend(); ++c)
    if (!ends_a_sequence(**c)) return (*c)->seq;
  return m.calls.empty() ? m.comm->entered : 0;
}

// The first member's own failed calls are read alike.
Reading read_alike(const Member& m, bool refused) {
  Reading r;
  for (const Call* c : m.calls)
    if (failed(*c)) r.refused.push_back(refused && !ended_by(m, *c));
  return r;
}

void take(Reference& ref, const Member& m, const Reading& reading) {
  int64_t shift = -reading.lost;
  size_t next = 0;
  uint64_t made = 0;
  for (const Call* c : m.calls) {
    if (failed(*c) && reading.refused[next++]) {
      --shift;
      continue;
    }
    const uint64_t place = moved(c->seq, shift);
    ref.add(place, {&m, c});
    if (!ends_a_sequence(*c)) made = place;
  }
  ref.lost = std::max(ref.lost, lost_places(m));
  if (is_over(m)) ref.last = std::min(ref.last, m.calls.empty() ? m.comm->entered : made);
}

int64_t failures(const Member& m) {
  return lost_failures(m) +
         std::count_if(m.calls.begin(), m.calls.end(), [](const Call* c) { return failed(*c); });
}

// One reading of all members, each compared with those before it.
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

// Each is read again beside all the others: what fits one of them both ways may fit another one way.
void read_again(Readings& readings, const CommGroup& group) {
  constexpr int kRounds = 3;
  constexpr std::ptrdiff_t kMost = 64;
  const auto is_unsure = [](const auto& one) { return one.first->unsure_from != 0; };
  if (std::count_if(readings.all.begin(), readings.all.end(), is_unsure) > kMost) return;
  Reference certain;  // these come first, and their places never change
  for (const auto& [m, reading] : readings.all)
    if (m->unsure_from == 0) take(certain, *m, reading);
  for (int round = 0; round < kRounds && (round == 0 || !readings.all_agree()); ++round)
    for (auto& [m, reading] : readings.all) {
      if (m->unsure_from == 0) continue;
      Reference others = certain;
      for (const auto& [other, its] : readings.all)
        if (other != m && other->unsure_from != 0) take(others, *other, its);
      reading = read(*m, others, group);
    }
}

Readings read_all(const std::vector<Member*>& members, const CommGroup& group, bool first_refused) {
  Readings readings;
  Reference ref;
  for (const Member* m : members)  // at most so many, whatever is read as refused
    if (is_over(*m))
      ref.last = std::min(ref.last, last_made(*m) + static_cast<uint64_t>(lost_places(*members.front())));
  for (Member* m : members) {
    Reading reading = m == members.front() ? read_alike(*m, first_refused) : read(*m, ref, group);
    take(ref, *m, reading);
    readings.all.emplace_back(m, std::move(reading));
  }
  return readings;
}

// Those with the fewest failed calls first, of these those that came furthest.
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

// The first place at which the communicator is not an ordinary one any more: a member revoked it before, or
// turned to its repair (MPI's user-level failure mitigation) after a call of its own on it had failed.
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

// The members were read one after the other: whether what came out fits together.
bool all_fit(const Readings& readings, const CommGroup& group) {
  Reference ref;
  for (const auto& [m, reading] : readings.all) {
    if (!fits_at_its_place(*m, reading, ref, group)) return false;
    take(ref, *m, reading);
  }
  return true;
}

// Where calls of several members may have been refused, and no reading that was tried fits all of them, a
// mistake of the program and one more refused call look alike. Nothing is compared from the first such call
// on.
uint64_t first_undecided(const CommGroup& group, const Readings& readings) {
  if (all_fit(readings, group)) return 0;
  uint64_t from = 0;
  int unsure = 0;
  for (const Member& m : group.members) {
    if (m.unsure_from == 0) continue;
    const auto may_be_refused = [&](const Call* c) { return failed(*c) && !ended_by(m, *c); };
    if (std::none_of(m.calls.begin(), m.calls.end(), may_be_refused) && lost_failures(m) == 0) continue;
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
  if (group.library == RF_LIB_C10D || group.flags & RF_COMM_INTER)
    return;  // PyTorch numbers each call it is given
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
  // NCCL refuses a call at once or when its group ends, whatever the others do.
  if (any && group.library != RF_LIB_NCCL) {
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
  if (group.library == RF_LIB_MPI) group.broken_from = first_broken(group);
  if (undecided != 0 && (group.broken_from == 0 || undecided < group.broken_from))
    group.broken_from = undecided;
}

}  // namespace rankfault
