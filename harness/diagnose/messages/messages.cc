#include "harness/diagnose/messages/messages.h"

#include <algorithm>

namespace rankfault {

bool sends(const Call& c) {
  return c.op() == RF_OP_SEND || c.op() == RF_OP_SSEND || c.op() == RF_OP_SENDRECV;
}
bool receives(const Call& c) { return c.op() == RF_OP_RECV || c.op() == RF_OP_SENDRECV; }

int source_of(const Call& c) { return c.op() == RF_OP_SENDRECV ? c.recv_peer() : c.peer(); }
int receive_tag(const Call& c) { return c.op() == RF_OP_SENDRECV ? c.recv_tag() : c.tag(); }

bool any_source(const Call& c) { return c.flags() & RF_CALL_ANY_SOURCE || source_of(c) == RF_PEER_ANY; }

namespace {

bool any_tag(const Call& c) { return c.flags() & RF_CALL_ANY_TAG; }

bool earlier(const Call& a, const Call& b) { return a.lane == b.lane && a.number < b.number; }

template <typename Fits>
size_t count_calls(const Member& m, Fits fits) {
  const auto on_it = [&](const Call& c) { return c.comm() == m.comm->index && fits(c); };
  return static_cast<size_t>(std::count_if(m.process->calls.begin(), m.process->calls.end(), on_it));
}

// A call whose arguments are not all in the record proves nothing.
bool readable(const Call& c) { return c.op() != RF_OP_SENDRECV || any_tag(c) || c.recv_tag() != kTagUnknown; }

// Every receive that succeeded took one message, whichever rank sent it. Returns an upper bound of the
// messages left for a receive from any source, of those that all members sent.
size_t left_for_anybody(const Call& c, const Member& me, const CommGroup& group) {
  const bool every_tag = any_tag(c);
  const int tag = receive_tag(c);
  size_t sent = 0;
  for (const Member& from : group.members)
    if (from.process && from.comm)
      sent += count_calls(from, [&](const Call& s) {
        return sends(s) && s.peer() == me.rank && (every_tag || s.tag() == tag);
      });
  const size_t taken = count_calls(me, [&](const Call& r) {
    const bool from_somebody = any_source(r) || source_of(r) >= 0;
    const bool fits = every_tag || (!any_tag(r) && readable(r) && receive_tag(r) == tag);
    return receives(r) && from_somebody && r.succeeded() && fits;
  });
  return sent > taken ? sent - taken : 0;
}

// Whether the message that a receive or a probe waits for was sent.
Known message_was_sent(const Call& c, const Member& me, const Member& from) {
  const bool every_tag = any_tag(c);
  const int tag = receive_tag(c);
  const size_t sent = count_calls(
      from, [&](const Call& s) { return sends(s) && s.peer() == me.rank && (every_tag || s.tag() == tag); });
  const size_t taken = count_calls(me, [&](const Call& r) {
    if (&r == &c || !receives(r) || any_source(r) || source_of(r) != from.rank) return false;
    const bool same_tag = !any_tag(r) && readable(r) && receive_tag(r) == tag;
    if (r.succeeded()) return every_tag || same_tag;
    return !every_tag && same_tag && r.status != Call::Status::kFailed && earlier(r, c);
  });
  return sent > taken ? Known::kYes : Known::kNo;
}

// Whether the receive that a synchronous send waits for was posted: earlier sends with the same tag are
// served first.
Known receive_was_posted(const Call& c, const Member& me, const Member& to) {
  const size_t posted = count_calls(to, [&](const Call& r) {
    const bool from_me = any_source(r) || source_of(r) == me.rank;
    return receives(r) && from_me && (any_tag(r) || !readable(r) || receive_tag(r) == c.tag());
  });
  const size_t before = count_calls(me, [&](const Call& s) {
    return sends(s) && s.peer() == to.rank && s.tag() == c.tag() && s.status != Call::Status::kFailed &&
           earlier(s, c);
  });
  return posted > before ? Known::kYes : Known::kNo;
}

size_t received(const Member& me, int source, int tag) {
  return count_calls(me, [&](const Call& r) {
    const bool from_it = any_source(r) || source_of(r) == source;
    return receives(r) && from_it && (any_tag(r) || !readable(r) || receive_tag(r) == tag);
  });
}

bool waits_for_receive(const Call& c) {
  return c.op() == RF_OP_SSEND || (c.op() == RF_OP_SEND && c.flags() & RF_CALL_RENDEZVOUS);
}

}  // namespace

Partners partners_of(const Call& c, const CommGroup& group) {
  const int size = static_cast<int>(group.size);
  const auto one = [&](int rank, bool by_need) {
    return rank >= 0 && rank < size ? Partners{{rank}, by_need} : Partners{};
  };
  if (c.op() == RF_OP_SEND && c.flags() & RF_CALL_BUFFERED) return {};
  if (c.op() == RF_OP_SEND && !waits_for_receive(c)) return c.open() ? one(c.peer(), false) : Partners{};
  if (waits_for_receive(c)) return one(c.peer(), true);
  if (!any_source(c)) return one(source_of(c), true);
  Partners all;
  for (int rank = 0; rank < size; ++rank) all.ranks.push_back(rank);  // itself too: a rank may send to itself
  return all;
}

std::optional<int> unreceived_tag(const Call& c, const Member& me, const Member& partner) {
  if (partner_entered(c, me, partner) != Known::kNo || !receives(c)) return std::nullopt;
  for (const Call& s : partner.process->calls) {
    if (s.comm() != partner.comm->index || !sends(s) || s.peer() != me.rank || s.tag() == receive_tag(c))
      continue;
    const size_t sent = count_calls(partner, [&](const Call& other) {
      return sends(other) && other.peer() == me.rank && other.tag() == s.tag();
    });
    if (sent > received(me, partner.rank, s.tag())) return s.tag();
  }
  return std::nullopt;
}

bool nothing_left(const Call& c, const Member& me, const CommGroup& group) {
  if (!any_source(c) || !me.comm || !readable(c)) return false;
  const auto known = [](const Member& m) {
    return m.process && m.comm && m.process->view->history_lost == 0;
  };
  return std::all_of(group.members.begin(), group.members.end(), known) &&
         left_for_anybody(c, me, group) == 0;
}

Known partner_entered(const Call& c, const Member& me, const Member& partner) {
  for (const Member* m : {&me, &partner})  // the messages that one sent and the other took
    if (!m->process || !m->comm || m->process->view->history_lost != 0) return Known::kUnknown;
  if (!readable(c)) return Known::kUnknown;
  return c.op() == RF_OP_SEND || c.op() == RF_OP_SSEND ? receive_was_posted(c, me, partner)
                                                       : message_was_sent(c, me, partner);
}

bool nccl_messages_known(const Member& m) {
  // NCCL implements these as sends and receives, which may pair with a plain one of another rank.
  const auto made_of_messages = [](const Call* c) {
    return c->op() == RF_OP_ALL_TO_ALL || c->op() == RF_OP_GATHER || c->op() == RF_OP_SCATTER;
  };
  return m.process && m.comm && m.process->view->partial == 0 &&
         !(m.process->view->opaque & RF_OPAQUE_COMMUNICATION) &&
         std::none_of(m.calls.begin(), m.calls.end(), made_of_messages);
}

}  // namespace rankfault
