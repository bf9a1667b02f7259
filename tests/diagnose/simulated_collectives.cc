#include "tests/diagnose/simulated_collectives.h"

#include <algorithm>

namespace rankfault::testing {

// The members are numbered so that the root is 0.
struct SimulatedCollectives::Place {
  const std::vector<int>& members;
  size_t root, me;  // `me` from the root on
  size_t size() const { return members.size(); }
  int rank(size_t turned) const { return members[(turned + root) % members.size()]; }
};

SimulatedCollectives::SimulatedCollectives(std::mt19937& random)
    : rooted_(random() % 2 ? Shape::kTree : Shape::kFlat),
      all_reduce_(std::vector{Shape::kFlat, Shape::kTree, Shape::kComposed}[random() % 3]),
      barrier_(random() % 2 ? Shape::kTree : Shape::kFlat) {}

void SimulatedCollectives::broadcast(std::vector<Step>& steps, const Place& at, Shape shape, Kind kind) {
  if (shape == Shape::kFlat) {
    if (at.me != 0) steps.push_back({false, at.rank(0), kind});
    for (size_t other = 1; at.me == 0 && other < at.size(); ++other)
      steps.push_back({true, at.rank(other), kind});
    return;
  }
  size_t bit = 1;
  while (bit < at.size() && !(at.me & bit)) bit *= 2;
  if (at.me != 0) steps.push_back({false, at.rank(at.me - bit), kind});
  for (bit /= 2; bit > 0; bit /= 2)
    if (at.me + bit < at.size()) steps.push_back({true, at.rank(at.me + bit), kind});
}

void SimulatedCollectives::reduce(std::vector<Step>& steps, const Place& at, Shape shape, Kind kind) {
  if (shape == Shape::kFlat) {
    if (at.me != 0) steps.push_back({true, at.rank(0), kind});
    for (size_t other = 1; at.me == 0 && other < at.size(); ++other)
      steps.push_back({false, at.rank(other), kind});
    return;
  }
  size_t bit = 1;
  for (; bit < at.size() && !(at.me & bit); bit *= 2)
    if (at.me + bit < at.size()) steps.push_back({false, at.rank(at.me + bit), kind});
  if (at.me != 0) steps.push_back({true, at.rank(at.me - bit), kind});
}

void SimulatedCollectives::exchange(std::vector<Step>& steps, const Place& at, Kind kind) {
  for (const bool is_send : {true, false})
    for (size_t other = 0; other < at.size(); ++other)
      if (other != at.me) steps.push_back({is_send, at.rank(other), kind});
}

std::vector<SimulatedCollectives::Step> SimulatedCollectives::steps(const CallSpec& call,
                                                                    const Place& at) const {
  std::vector<Step> all;
  if (call.op == RF_OP_BROADCAST) {
    broadcast(all, at, rooted_, kBroadcast);
  } else if (call.op == RF_OP_REDUCE) {
    reduce(all, at, rooted_, kReduce);
  } else {
    const bool barrier = call.op == RF_OP_BARRIER;
    const Shape shape = barrier ? barrier_ : all_reduce_;
    const Kind own = barrier ? kBarrier : kAllReduce;
    const bool composed = shape == Shape::kComposed;
    if (shape == Shape::kFlat) {
      exchange(all, at, own);
    } else {
      reduce(all, at, composed ? rooted_ : Shape::kTree, composed ? kReduce : own);
      broadcast(all, at, composed ? rooted_ : Shape::kTree, composed ? kBroadcast : own);
    }
  }
  return all;
}

void SimulatedCollectives::enter(int rank, const CallSpec& call, int comm, const std::vector<int>& members) {
  const size_t n = members.size();
  const auto me = static_cast<size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
  const size_t root = call.peer >= 0 ? static_cast<size_t>(call.peer) % n : 0;
  calls_[rank] = {comm, steps(call, {members, root, (me + n - root) % n}), 0};
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& [other, its] : calls_) moved = go_on(other, its) || moved;
  }
}

bool SimulatedCollectives::go_on(int rank, Call& call) {
  const size_t before = call.next;
  for (; call.next < call.steps.size(); ++call.next) {
    const Step& step = call.steps[call.next];
    if (step.is_send) {
      ++unread_[{call.comm, step.kind, rank, step.peer}];
      continue;
    }
    size_t& there = unread_[{call.comm, step.kind, step.peer, rank}];
    if (there == 0) break;
    --there;
  }
  return call.next != before;
}

}  // namespace rankfault::testing
