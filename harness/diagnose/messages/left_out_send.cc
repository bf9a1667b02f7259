#include "harness/diagnose/messages/left_out_send.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "harness/diagnose/messages/messages.h"

namespace rankfault {
namespace {

using Calls = std::vector<const Call*>;

bool would_serve(const Call& c, const WaitEdge& e) {
  const bool any_tag = e.call->flags() & RF_CALL_ANY_TAG;
  return sends(c) && c.comm() == e.missing->comm->index && c.peer() == e.waiter->rank &&
         (any_tag || c.tag() == receive_tag(*e.call));
}

Calls calls_of(const Process& p, uint32_t lane) {
  Calls calls;
  for (const Call& c : p.calls)
    if (c.lane == lane && (is_message(c.op()) || is_collective(c.op()))) calls.push_back(&c);
  return calls;
}

// Returns the only lane that sends to the waiting rank.
std::optional<uint32_t> only_sender(const WaitEdge& e) {
  std::optional<uint32_t> lane;
  for (const Call& c : e.missing->process->calls) {
    if (!would_serve(c, e)) continue;
    if (lane && *lane != c.lane) return std::nullopt;
    lane = c.lane;
  }
  return lane;
}

using PlaceInProgram = std::tuple<uint16_t, uint32_t, int, int, uint64_t>;

PlaceInProgram place_in_program(const Call& c) {
  return {c.op(), c.comm(), c.peer(), is_message(c.op()) ? c.tag() : 0, c.where()};
}

// Returns the number of the only round that has one send less than the others. Round i lasts from begins[i]
// to begins[i + 1]; sent[i] counts the sends before call i.
std::optional<size_t> round_that_lacks_one(const std::vector<size_t>& begins,
                                           const std::vector<size_t>& sent) {
  const auto sends_in = [&](size_t round) { return sent[begins[round + 1]] - sent[begins[round]]; };
  if (begins.size() < 4 || sends_in(0) == 0 || sends_in(1) != sends_in(0)) return std::nullopt;
  std::optional<size_t> found;
  for (size_t round = 2; round + 1 < begins.size(); ++round) {
    if (sends_in(round) == sends_in(0)) continue;
    if (found || sends_in(round) + 1 != sends_in(0)) return std::nullopt;
    found = round;
  }
  return found;
}

}  // namespace

std::optional<LeftOutSend> left_out_send(const WaitEdge& e) {
  const Process* process = e.missing->process;
  if (!receives(*e.call) || e.one_of || !process || !e.missing->comm || process == e.waiter->process)
    return std::nullopt;
  const std::optional<uint32_t> lane = only_sender(e);
  const Calls calls = lane ? calls_of(*process, *lane) : Calls{};
  std::vector<size_t> sent{0};
  std::map<PlaceInProgram, std::vector<size_t>> begins;
  const Call* example = nullptr;
  for (size_t at = 0; at < calls.size(); ++at) {
    const bool serves = would_serve(*calls[at], e);
    sent.push_back(sent.back() + (serves ? 1 : 0));
    if (serves && !example) example = calls[at];
    if (!serves) begins[place_in_program(*calls[at])].push_back(at);
  }
  const Call* after = nullptr;  // the earliest of all kinds of rounds
  for (const auto& [place, at] : begins)
    if (const std::optional<size_t> round = round_that_lacks_one(at, sent)) {
      const Call* next = calls[at[*round + 1]];
      if (!after || next->number < after->number) after = next;
    }
  return after ? std::optional(LeftOutSend{example, after}) : std::nullopt;
}

}  // namespace rankfault
