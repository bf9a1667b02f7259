// type_remark: a rank sent one type and another rank took it as a second type. The standard forbids this, but
// the library moved the same bytes to the same places, so nothing went wrong. Reported once per communicator,
// when the job is over.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequence/sequences.h"

namespace rankfault {
namespace {

struct Tolerated {
  MemberCall from, to;
};

bool is_over(const JobView& job) {
  return std::all_of(job.processes().begin(), job.processes().end(),
                     [](const auto& p) { return p->ended(); });
}

// Whether all calls at one place are one call.
bool places_are_known(const CommGroup& group) {
  return group.broken_from == 0 &&
         std::none_of(group.members.begin(), group.members.end(),
                      [](const Member& m) { return m.unsure_from != 0 || m.shift != 0; });
}

// Returns the member with which all others exchange something: the root, or any member.
const Member& hub_of(const Call& c, const CommGroup& group) {
  const bool rooted = c.peer() >= 0 && static_cast<size_t>(c.peer()) < group.members.size();
  return group.members[rooted ? static_cast<size_t>(c.peer()) : 0];
}

void compare_places(const CommGroup& group, std::vector<Tolerated>& found) {
  for (const Member& m : group.members)
    for (const Call* c : m.calls) {
      if (!is_collective(c->op())) continue;
      const Member& hub = hub_of(*c, group);
      const Call* other = &hub == &m ? nullptr : hub.at(c->seq);
      if (!other) continue;
      // In a broadcast only the root sends.
      if (c->op() != RF_OP_BROADCAST && tolerated_type(*c, *other)) found.push_back({{&m, c}, {&hub, other}});
      if (tolerated_type(*other, *c)) found.push_back({{&hub, other}, {&m, c}});
    }
}

using Key = std::pair<int, int>;  // partner, tag
using Messages = std::map<Key, std::vector<const Call*>>;

// Returns the messages in the order in which the library pairs them; empty if the record does not show it:
// calls of several threads, wildcards, failed calls.
Messages in_order(const Member& me, bool sent) {
  Messages all;
  if (!me.process || !me.comm) return all;
  const ProcessView& view = *me.process->view;
  if (view.history_lost != 0 || view.partial != 0 || view.opaque & RF_OPAQUE_COMMUNICATION) return all;
  std::optional<uint32_t> lane;
  for (const Call& c : me.process->calls) {
    if (c.comm() != me.comm->index || !(sent ? sends(c) : receives(c))) continue;
    const bool any = !sent && (any_source(c) || c.flags() & (RF_CALL_ANY_TAG | RF_CALL_COUNT_UNKNOWN));
    if (any || c.op() == RF_OP_SENDRECV || !c.succeeded() || lane.value_or(c.lane) != c.lane) return {};
    lane = c.lane;
    all[{sent ? c.peer() : source_of(c), sent ? c.tag() : receive_tag(c)}].push_back(&c);
  }
  return all;
}

void compare_messages(const CommGroup& group, std::vector<Tolerated>& found) {
  std::vector<Messages> received;
  for (const Member& m : group.members) received.push_back(in_order(m, false));
  for (const Member& m : group.members)
    for (const auto& [key, sends] : in_order(m, true)) {
      if (key.first < 0 || static_cast<size_t>(key.first) >= received.size()) continue;
      const Messages& others = received[static_cast<size_t>(key.first)];
      const auto receives = others.find({m.rank, key.second});
      if (receives == others.end()) continue;
      for (size_t i = 0; i < std::min(sends.size(), receives->second.size()); ++i)
        if (tolerated_type(*sends[i], *receives->second[i]))
          found.push_back(
              {{&m, sends[i]}, {&group.members[static_cast<size_t>(key.first)], receives->second[i]}});
    }
}

Finding tell(const JobView& job, const CommGroup& group, const std::vector<Tolerated>& all) {
  const Tolerated& first = *std::min_element(
      all.begin(), all.end(),
      [](const Tolerated& a, const Tolerated& b) { return a.from.call->entered < b.from.call->entered; });
  Finding f;
  f.kind = "type_remark";
  f.confidence = Confidence::kRemark;
  f.attempt = job.attempt();
  f.at = first.from.call->entered;
  f.op = op_text(first.from.call->op());
  f.call_site = call_site_of(*first.from.member->process, *first.from.call);
  f.sides = sides_of({first.from, first.to}, group);
  set_comm(f, group);
  set_seq(f, *first.from.call);
  const bool message = is_message(first.from.call->op());
  f.text = fmt::format(
      "rank {} receives another type than rank {} sends{}; MPI forbids this (MPI 4.1, {}), and the library "
      "moved "
      "the same "
      "bytes",
      first.to.member->world_rank, first.from.member->world_rank,
      all.size() == 1 ? "" : fmt::format(", the first of {} such pairs on {}", all.size(), group.name),
      message ? "3.3.1" : "6.1");
  return f;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  if (!is_over(job)) return found;
  for (const CommGroup& group : job.comms()) {
    if (!group.traits().types_must_match || group.flags & RF_COMM_INTER || group.members.empty()) continue;
    std::vector<Tolerated> tolerated;
    if (places_are_known(group)) compare_places(group, tolerated);
    compare_messages(group, tolerated);
    if (!tolerated.empty()) found.push_back(tell(job, group, tolerated));
  }
  return found;
}

const Registration<Rule> kRule{{
    .name = "type_remark",
    .summary = "a rank received another type than the sender sent, and the library moved the same bytes",
    .look = look,
    .proof = "Never proven, and nothing went wrong: it is said once a communicator when the job is over, and "
             "changes "
             "neither verdict nor exit status.",
    .example = "rank 0 sends int8 x 8, rank 1 receives byte x 8",
    .next =
        "Use one type on both sides: another library, or another machine, may convert or refuse it (MPI 4.1, "
        "3.3.1).",
}};

}  // namespace
}  // namespace rankfault
