#include "harness/diagnose/messages/unreceived_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/proof/proof.h"

namespace rankfault {
namespace {

constexpr int kAnyTag = -1;

bool whole(const Process& p) {
  return p.view->history_lost == 0 && !(p.view->opaque & RF_OPAQUE_COMMUNICATION) && p.view->partial == 0;
}

// Whether the process reached its orderly end and none of its calls failed.
bool over_in_order(const Process& p, const CommGroup& group) {
  if (end_of(p, group).why == End::Why::kNotFinal || !whole(p) || p.ended_badly()) return false;
  return std::none_of(p.calls.begin(), p.calls.end(),
                      [](const Call& c) { return c.status == Call::Status::kFailed; });
}

struct Sent {
  size_t count = 0;
  const Call* last = nullptr;
};
using Key = std::pair<int, int>;  // partner, tag

std::map<Key, Sent> sent_by(const Member& me) {
  std::map<Key, Sent> sent;
  for (const Call& c : me.process->calls)
    if (c.comm() == me.comm->index && sends(c) && c.peer() >= 0 && c.status != Call::Status::kFailed) {
      Sent& s = sent[{c.peer(), c.tag()}];
      ++s.count;
      s.last = &c;
    }
  return sent;
}

std::map<Key, size_t> asked_by(const Member& me) {
  std::map<Key, size_t> asked;
  for (const Call& c : me.process->calls)
    if (c.comm() == me.comm->index && receives(c)) {
      const bool every_tag =
          c.flags() & RF_CALL_ANY_TAG || (c.op() == RF_OP_SENDRECV && c.recv_tag() == kTagUnknown);
      ++asked[{any_source(c) ? RF_PEER_ANY : source_of(c), every_tag ? kAnyTag : receive_tag(c)}];
    }
  return asked;
}

size_t that_fit(const std::map<Key, size_t>& asked, int source, int tag) {
  size_t fit = 0;
  for (const Key& key :
       {Key{source, tag}, Key{source, kAnyTag}, Key{RF_PEER_ANY, tag}, Key{RF_PEER_ANY, kAnyTag}})
    if (const auto at = asked.find(key); at != asked.end()) fit += at->second;
  return fit;
}

}  // namespace

std::vector<UnreceivedMessage> leftover_messages(const JobView& job) {
  std::vector<UnreceivedMessage> found;
  for (const CommGroup& group : job.comms()) {
    if (!group.traits().must_receive_all || group.flags & RF_COMM_INTER) continue;
    std::map<int, std::map<Key, size_t>> asked;  // by receiver
    for (const Member& m : group.members)
      if (m.process && m.comm && over_in_order(*m.process, group)) asked[m.rank] = asked_by(m);
    for (const Member& from : group.members) {
      if (asked.empty() || !from.process || !from.comm || !whole(*from.process)) continue;
      for (const auto& [key, sent] : sent_by(from)) {
        const auto to = asked.find(key.first);
        if (to == asked.end()) continue;
        const size_t fit = that_fit(to->second, from.rank, key.second);
        const Member& receiver = group.members[static_cast<size_t>(key.first)];
        if (sent.count > fit) found.push_back({&group, &from, &receiver, sent.last, sent.count, fit});
      }
    }
  }
  return found;
}

Finding describe_unreceived(const JobView& job, const UnreceivedMessage& l) {
  Finding f;
  f.kind = "missing_call";
  f.attempt = job.attempt();
  set_time(f, *l.sender->process, l.send->entered);
  f.op = op_text(RF_OP_RECV);
  f.call_site = call_site_of(*l.sender->process, *l.send);
  set_comm(f, *l.group);
  f.sides = sides_of({{l.sender, l.send}, {l.receiver, nullptr}}, *l.group);
  f.text = fmt::format(
      "rank {} sent {} with tag {} to rank {} on {}, which asked for {} of them and makes no more calls",
      l.sender->world_rank, counted(l.sent, "message"), l.send->tag(), l.receiver->world_rank, l.group->name,
      l.asked_for);
  f.evidence = {f.text};
  return f;
}

}  // namespace rankfault
