#include "tests/diagnose/simulated_job.h"

#include <algorithm>

#include "harness/diagnose/messages/messages.h"

namespace rankfault::testing {
namespace {

// In `rooted` of ten calls only one side waits.
CallSpec random_call(std::mt19937& random, int size, unsigned rooted) {
  const unsigned drawn = random() % 10;
  if (drawn >= rooted)
    return drawn % 3 == 0 ? barrier() : all_reduce(1 + random() % 3, 0x1000 + 16 * (random() % 3));
  const int root = static_cast<int>(random() % static_cast<unsigned>(size));
  if (drawn % 2 == 0) return broadcast(root, 1 + random() % 3);
  CallSpec reduce = broadcast(root, 4, 0x5000);
  reduce.op = RF_OP_REDUCE;
  return reduce;
}

}  // namespace

SimulatedJob::SimulatedJob(uint32_t seed, bool mistakes, Library library, Refusals refusals)
    : random_(seed),
      ranks_(2 + static_cast<int>(random_() % 4)),
      builder_(ranks_, RF_LIB_MPI),
      state_(static_cast<size_t>(ranks_)) {
  std::vector<int> all;
  for (int r = 0; r < ranks_; ++r) all.push_back(r);
  names_ = {"world", "other", "pair"};
  members_ = {all, all, {0, ranks_ - 1}};
  builder_.comm("other", all).comm("pair", members_[2]);
  if (library == Library::kOfMessages) {
    of_messages_.emplace(random_);
    late_ = static_cast<int>(random_() % static_cast<unsigned>(ranks_ * 2));
  }
  if (refusals == Refusals::kSome) refused_of_hundred_ = seed % 4 * 4;
  strict_ = library == Library::kStrict;
  write_programs();
  if (!mistakes) return;
  make_a_mistake();
  if (random_() % 3) return;
  add_race();
  for (int i = 0; i < 3; ++i) add_messages();
}

void SimulatedJob::write_programs() {
  const int calls = 5 + static_cast<int>(random_() % 30);
  const bool messages = random_() % 2;
  const unsigned rooted = of_messages_ ? 4 + random_() % 5 : 4;
  for (int i = 0; i < calls; ++i) {
    if (messages && random_() % 2) {
      add_messages();
      continue;
    }
    const size_t c = random_() % 4 == 0 ? 1 + random_() % 2 : 0;
    const CallSpec call = on(random_call(random_, static_cast<int>(members_[c].size()), rooted), names_[c]);
    for (const int r : members_[c]) state_[static_cast<size_t>(r)].program.push_back(call);
  }
}

// One exchange that cannot hang by itself, whether or not the library buffers.
void SimulatedJob::add_messages() {
  const int a = static_cast<int>(random_() % static_cast<unsigned>(ranks_)), b = (a + 1) % ranks_;
  const int tag = static_cast<int>(random_() % 3);
  auto &from = state_[static_cast<size_t>(a)].program, &to = state_[static_cast<size_t>(b)].program;
  const auto nonblocking = [](CallSpec spec) {
    spec.flags |= RF_CALL_NONBLOCKING;
    return spec;
  };
  CallSpec wait;
  wait.op = random_() % 3 ? RF_OP_WAIT : RF_OP_WAIT_ANY;
  switch (random_() % 5) {
    case 0:
      from.push_back(ssend(b, tag));
      to.push_back(recv(a, tag));
      break;
    case 1:
      from.push_back(send(b, tag));
      to.push_back(random_() % 2 ? recv(RF_PEER_ANY, -1) : recv(RF_PEER_ANY, tag));
      break;
    case 2:
      for (const int t : {0, 1, 2}) to.push_back(nonblocking(recv(a, t)));
      for (const int t : {2, 0, 1}) from.push_back(send(b, t));
      to.push_back(wait);
      break;
    case 3:
      for (int r = 0; r < ranks_; ++r)
        state_[static_cast<size_t>(r)].program.push_back(
            sendrecv((r + 1) % ranks_, (r + ranks_ - 1) % ranks_, tag));
      break;
    default:
      from.push_back(send(b, tag));
      to.push_back(probe(a, tag));
      to.push_back(recv(a, tag));
  }
}

// A receive from any source before one from a fixed source: it hangs when the wrong message comes first.
void SimulatedJob::add_race() {
  const int to = static_cast<int>(random_() % static_cast<unsigned>(ranks_)), a = (to + 1) % ranks_;
  state_[static_cast<size_t>(to)].program.push_back(recv(RF_PEER_ANY));
  for (int r = 0; r < ranks_; ++r) {
    if (r == to) continue;
    state_[static_cast<size_t>(r)].program.push_back(send(to));
    if (r != a) state_[static_cast<size_t>(to)].program.push_back(recv(RF_PEER_ANY));
  }
  state_[static_cast<size_t>(to)].program.back() = recv(a);
}

void SimulatedJob::make_a_mistake() {
  std::vector<CallSpec>& victim = state_[random_() % state_.size()].program;
  if (victim.size() < 2) return;
  const size_t at = random_() % (victim.size() - 1);
  switch (random_() % 5) {
    case 0:
      victim.erase(victim.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      victim.insert(victim.begin() + static_cast<std::ptrdiff_t>(at), all_reduce(99, 0x7777));
      break;
    case 2:
      victim[at].count += 5;
      victim[at].tag += 1;
      break;
    case 3:
      victim[at].peer = victim[at].peer >= 0 ? (victim[at].peer + 1) % ranks_ : victim[at].peer;
      break;
    default:
      std::swap(victim[at], victim[at + 1]);
  }
}

size_t SimulatedJob::number(const std::string& comm) const {
  return static_cast<size_t>(std::find(names_.begin(), names_.end(), comm) - names_.begin());
}

bool SimulatedJob::can_return(int rank) const {
  const Rank& me = state_[static_cast<size_t>(rank)];
  const CallSpec& call = me.program[me.next];
  const auto done = [&](const Request& r) { return r.at_once || mail_.served(r.post); };
  if (call.op == RF_OP_WAIT) return std::all_of(me.requests.begin(), me.requests.end(), done);
  if (call.op == RF_OP_WAIT_ANY)
    return me.requests.empty() || std::any_of(me.requests.begin(), me.requests.end(), done);
  if (strict_ && call.op == RF_OP_SENDRECV)
    return std::all_of(me.posts.begin(), me.posts.end(), [&](size_t post) { return mail_.served(post); });
  if (call.op == RF_OP_SEND && (!strict_ || call.flags & RF_CALL_BUFFERED)) return true;
  if (call.op == RF_OP_PROBE) return mail_.lies_there(call.peer, rank, call.tag);
  if (!me.posts.empty()) return mail_.served(me.posts.back());  // the receiving half of a sendrecv
  return of_messages_ ? of_messages_->can_return(rank) : everybody_needed_came(rank, call);
}

// Decides by data flow alone: the most permissive library that counts calls.
bool SimulatedJob::everybody_needed_came(int rank, const CallSpec& call) const {
  const Rank& me = state_[static_cast<size_t>(rank)];
  const std::vector<int>& all = members(call.comm);
  const auto came = [&](int r) {
    const auto& places = state_[static_cast<size_t>(r)].places;
    const auto at = places.find(call.comm);
    return at != places.end() && at->second >= me.seq;
  };
  if (strict_) return std::all_of(all.begin(), all.end(), came);
  const bool rooted = call.peer >= 0 && static_cast<size_t>(call.peer) < all.size();
  const bool i_am_root = rooted && all[static_cast<size_t>(call.peer)] == rank;
  if (call.op == RF_OP_BROADCAST) return i_am_root || !rooted || came(all[static_cast<size_t>(call.peer)]);
  if (call.op == RF_OP_REDUCE && !i_am_root) return true;
  return std::all_of(all.begin(), all.end(), came);
}

// Sets the place of the rank's newest call.
void SimulatedJob::stand_at(int rank, uint64_t place) {
  const uint64_t origin = builder_.last_origin(rank);
  places_[{rank, static_cast<uint32_t>(origin >> 32), static_cast<uint32_t>(origin)}] = place;
}

// A call with a wrong argument before the correct one: the call itself, one like it, or another one.
void SimulatedJob::try_a_wrong_call(int r, const CallSpec& next) {
  if (next.op == RF_OP_WAIT || next.op == RF_OP_WAIT_ANY || random_() % 100 >= refused_of_hundred_) return;
  is_refused(r, next);
}

void SimulatedJob::is_refused(int r, const CallSpec& next) {
  CallSpec call = next;
  if (random_() % 3 == 0) call = on(broadcast(99), next.comm);
  if (random_() % 3 == 0) call.count += 1;
  builder_.fails(r, call, 3);
  stand_at(r, 0);
}

void SimulatedJob::enter(int r) {
  Rank& s = state_[static_cast<size_t>(r)];
  const CallSpec& call = s.program[s.next];
  s.posts.clear();
  if (refused_of_hundred_ != 0) try_a_wrong_call(r, call);
  if (call.op == RF_OP_WAIT || call.op == RF_OP_WAIT_ANY) {
    std::vector<uint64_t> origins;
    for (const Request& request : s.requests) origins.push_back(request.origin);
    builder_.waits(r, origins, call.op);
  } else if (call.flags & RF_CALL_NONBLOCKING) {
    builder_.enqueues(r, call);
    const bool sends_it = call.op == RF_OP_SEND || call.op == RF_OP_SSEND;
    s.requests.push_back({builder_.last_origin(r),
                          sends_it ? mail_.send(r, call.peer, call.tag) : mail_.ask(call.peer, r, call.tag),
                          sends_it && call.op == RF_OP_SEND && (!strict_ || call.flags & RF_CALL_BUFFERED)});
    ++s.next;
    return;
  } else {
    builder_.blocked(r, call);
    if (!is_message(call.op)) {
      s.seq = ++s.places[call.comm];
      stand_at(r, s.seq);
    }
    if (call.op == RF_OP_SEND || call.op == RF_OP_SSEND || call.op == RF_OP_SENDRECV)
      s.posts.push_back(mail_.send(r, call.peer, call.tag));
    if (of_messages_ && !is_message(call.op))
      of_messages_->enter(r, call, static_cast<int>(number(call.comm)), members(call.comm));
    if (call.op == RF_OP_RECV) s.posts.push_back(mail_.ask(call.peer, r, call.tag));
    if (call.op == RF_OP_SENDRECV) s.posts.push_back(mail_.ask(call.recv_peer, r, call.recv_tag));
  }
  s.inside = true;
}

void SimulatedJob::leave(int r) {
  Rank& s = state_[static_cast<size_t>(r)];
  const uint16_t op = s.program[s.next].op;
  if (op == RF_OP_WAIT || op == RF_OP_WAIT_ANY)
    for (size_t i = 0; i < s.requests.size();) {
      if (!s.requests[i].at_once && !mail_.served(s.requests[i].post)) {
        ++i;
        continue;
      }
      builder_.completes(r, s.requests[i].origin);
      s.requests.erase(s.requests.begin() + static_cast<std::ptrdiff_t>(i));
      if (op == RF_OP_WAIT_ANY) break;
    }
  builder_.returns(r);
  if (of_messages_) of_messages_->leave(r);
  s.inside = false;
  ++s.next;
}

bool SimulatedJob::has_ended() const {
  return std::all_of(state_.begin(), state_.end(), [](const Rank& r) { return r.next == r.program.size(); });
}

bool SimulatedJob::leaves_a_choice() const {
  return std::any_of(state_.begin(), state_.end(), [](const Rank& r) {
    return std::any_of(r.program.begin(), r.program.end(), [](const CallSpec& c) {
      return c.flags & RF_CALL_ANY_SOURCE || c.op == RF_OP_WAIT_ANY;
    });
  });
}

// Orders that end where the library buffers. Some of them end with any library.
void SimulatedJob::add_unsafe_orders() {
  const int a = static_cast<int>(random_() % static_cast<unsigned>(ranks_)), b = (a + 1) % ranks_;
  const int tag = static_cast<int>(random_() % 3);
  auto &one = state_[static_cast<size_t>(a)].program, &other = state_[static_cast<size_t>(b)].program;
  CallSpec out = send(b, tag), wait;
  wait.op = RF_OP_WAIT;
  if (random_() % 3 == 0) out.flags |= RF_CALL_BUFFERED;
  const bool pending = random_() % 2, wait_at_once = random_() % 2;
  if (pending) out.flags |= RF_CALL_NONBLOCKING;
  const auto sends_it = [&] {
    one.push_back(out);
    if (pending && wait_at_once) one.push_back(wait);
  };
  const auto everyone = [&](const CallSpec& call) {
    for (Rank& r : state_) r.program.push_back(call);
  };
  switch (random_() % 4) {
    case 0:  // facing each other
      sends_it();
      other.insert(other.end(), {send(a, tag), recv(a, tag)});
      one.push_back(recv(b, tag));
      break;
    case 1:  // across a collective
      sends_it();
      everyone(random_() % 2 ? broadcast(a) : barrier());
      other.push_back(recv(a, tag));
      break;
    case 2:  // before it
      sends_it();
      other.push_back(recv(a, tag));
      everyone(random_() % 2 ? broadcast(a) : barrier());
      break;
    default:  // after it, where the root leaves it at once
      one.push_back(broadcast(a));
      sends_it();
      other.push_back(recv(a, tag));
      for (size_t r = 0; r < state_.size(); ++r)
        if (static_cast<int>(r) != a) state_[r].program.push_back(broadcast(a));
  }
  if (pending) one.push_back(wait);
}

bool SimulatedJob::advance() {
  std::vector<int> movable;
  for (int r = 0; r < ranks_; ++r) {
    const Rank& s = state_[static_cast<size_t>(r)];
    if (!s.dead && s.next < s.program.size() && (!s.inside || can_return(r))) movable.push_back(r);
  }
  if (movable.empty()) return false;
  int r = movable[random_() % movable.size()];
  for (int again = 0; r == late_ && again < 3; ++again) r = movable[random_() % movable.size()];
  Rank& s = state_[static_cast<size_t>(r)];
  s.inside ? leave(r) : enter(r);
  if (s.next == s.program.size()) builder_.finalized(r);
  return true;
}

// The call ends at its limit.
void SimulatedJob::give_up(int rank) {
  constexpr Duration kLimit = 1s;
  builder_.wait(kLimit).returns(rank, 0, RF_RESULT_THROWN);
  rf_state& state = builder_.lane_of(rank).state;
  state.deadline_ns = state.since_ns + ns_of(kLimit);
  builder_.exits(rank, 3);
}

void SimulatedJob::end(int rank) {
  Rank& r = state_[static_cast<size_t>(rank)];
  if (r.dead) return;
  r.dead = true;
  if (of_messages_) of_messages_->leave(rank);
  const bool tries_a_wrong_call = refused_of_hundred_ != 0 && !r.inside && random_() % 2;
  if (r.next == r.program.size()) {
    builder_.exits(rank, 0);
  } else if (tries_a_wrong_call) {
    const CallSpec& next = r.program[r.next];
    is_refused(rank, next.op == RF_OP_WAIT || next.op == RF_OP_WAIT_ANY ? barrier() : next);
    builder_.exits(rank, 1);
  } else if (r.inside && random_() % 2) {
    give_up(rank);
  } else if (random_() % 3) {
    builder_.killed(rank);
  } else {
    builder_.exits(rank, static_cast<int>(random_() % 2));
  }
}

}  // namespace rankfault::testing
