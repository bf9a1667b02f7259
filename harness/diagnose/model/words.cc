#include "harness/diagnose/model/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "harness/agent/named_calls.h"
#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/gradient_bucket.h"

namespace rankfault {
namespace {

bool has_payload(uint16_t op) {
  return (is_collective(op) && op != RF_OP_BARRIER) || op_need(op) == RF_NEED_PEER || op == RF_OP_SEND;
}

bool reduces(uint16_t op) {
  return op == RF_OP_ALL_REDUCE || op == RF_OP_REDUCE || op == RF_OP_REDUCE_SCATTER ||
         op == RF_OP_REDUCE_SCATTER_BLOCK || op == RF_OP_SCAN || op == RF_OP_EXSCAN;
}

std::string payload_text(const Call& c, bool own_share) {
  if (!has_payload(c.op()) || (c.flags() & RF_CALL_COUNT_UNKNOWN)) return "";
  std::string text = fmt::format(" {}", dtype_text(c.dtype()));
  if (own_share || !(c.flags() & RF_CALL_RANK_LOCAL)) text += fmt::format(" x {}", c.count());
  if (reduces(c.op()) && c.reduce_op() != RF_REDUCE_OTHER)
    text += fmt::format(" {}", reduce_op_text(c.reduce_op()));
  return text;
}

std::string rank_text(int rank) {
  return rank == RF_PEER_ANY ? "any rank" : rank == RF_PEER_NULL ? "nobody" : fmt::format("rank {}", rank);
}

std::string tag_text(const Call& c) {
  if (c.traits().runs_on_streams) return "";
  if (c.op() != RF_OP_SENDRECV && c.flags() & RF_CALL_ANY_TAG) return " any tag";
  return fmt::format(" tag {}", c.tag());
}

// " from rank 1 tag 5", "to rank 2 tag 0, from any rank".
std::string partner_text(const Call& c) {
  if (c.op() == RF_OP_RECV || c.op() == RF_OP_PROBE)
    return fmt::format(" from {}{}", rank_text(c.flags() & RF_CALL_ANY_SOURCE ? RF_PEER_ANY : c.peer()),
                       tag_text(c));
  std::string text = fmt::format(" to {}{}", rank_text(c.peer()), tag_text(c));
  if (c.op() == RF_OP_SENDRECV)
    text +=
        fmt::format(" and from {}", rank_text(c.flags() & RF_CALL_ANY_SOURCE ? RF_PEER_ANY : c.recv_peer()));
  return text;
}

std::string root_text(const Call& c) {
  if (is_message(c.op())) return partner_text(c);
  return c.peer() >= 0 && is_collective(c.op()) ? fmt::format(" root {}", c.peer()) : "";
}

}  // namespace

std::string counted(size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

std::string name_of_call(const Call& c) {
  static constexpr const char* kNames[] = {
#define RF_NAMED_CALL(id, text, op, all) text,
#include "harness/agent/named_calls.def"
#undef RF_NAMED_CALL
  };
  const bool known = rf_is_named(c.op()) && c.tag() >= 0 && c.tag() < RF_NAMED_COUNT;
  return known ? kNames[c.tag()] : op_text(c.op());
}

std::string short_call(const Call& c, const CommGroup& group) {
  if (is_message(c.op())) return fmt::format("{}{} on {}", op_text(c.op()), partner_text(c), group.name);
  if (rf_is_wait(c.op()) && c.seq)
    return fmt::format("{} for call {} on {}", op_text(c.op()), c.seq, group.name);
  return c.seq ? fmt::format("{} {} on {}", op_text(c.op()), c.seq, group.name)
               : fmt::format("{} on {}", name_of_call(c), group.name);
}

std::string called_text(const Call& c, const CommGroup& group) {
  return is_message(c.op()) ? short_call(c, group) : fmt::format("{} on {}", op_text(c.op()), group.name);
}

std::string member_text(const CommGroup& group, const Member& member) {
  const auto of_it = std::count_if(group.members.begin(), group.members.end(),
                                   [&](const Member& m) { return m.process && m.process == member.process; });
  return of_it > 1 ? fmt::format("member {} of rank {}", member.rank, member.world_rank)
                   : fmt::format("rank {}", member.world_rank);
}

std::string call_text(const Call& c, const CommGroup& group, bool own_share) {
  const bool apart = c.traits().nonblocking_apart && is_collective(c.op()) && c.flags() & RF_CALL_NONBLOCKING;
  std::string text = fmt::format("{}{}{}{} on {}", apart ? "nonblocking " : "", name_of_call(c),
                                 payload_text(c, own_share), root_text(c), group.name);
  if (c.seq && !is_message(c.op())) text += fmt::format(", call {}", c.seq);
  return text;
}

std::string stands_text(const char* words, const Call& c, const Call* held, const CommGroup& group) {
  static constexpr const char* kHostWaits[] = {
#define RF_HOST_WAIT(id, text) text,
#include "harness/agent/host_waits.def"
#undef RF_HOST_WAIT
  };
  const std::string call = call_text(c, group);
  const bool on_stream = c.traits().runs_on_streams && c.status == Call::Status::kPending;
  if (on_stream && !held) return fmt::format("has enqueued {}", call);
  if (!on_stream || held->op() != RF_OP_STREAM_WAIT) return fmt::format("{} {}", words, call);
  const bool known = held->tag() >= 0 && held->tag() < RF_HOST_WAIT_COUNT;
  return fmt::format("waits in {} for {}", known ? kHostWaits[held->tag()] : op_text(held->op()), call);
}

std::string place_of(const Process& process, const Call& c) {
  const auto at = process.view->call_sites.find(c.where());
  return at == process.view->call_sites.end() ? "" : at->second;
}

std::string call_site_of(const Process& process, const Call& c) {
  const auto line = process.view->source_lines.find(c.where());
  return line == process.view->source_lines.end() ? place_of(process, c) : line->second;
}

std::string end_text(const ProcessEnd& end) {
  if (end.kind == EndKind::kAlive) return "is alive";
  if (end.execed) return "became another program (exec)";
  if (!end.status_known) return "died, status unknown";
  if (!end.by_signal) return fmt::format("exited with {}", end.value);
  const char* name = sigabbrev_np(end.value);
  const char* memory = end.oom_kill_in.empty() ? "" : " (probably out of memory)";
  return name ? fmt::format("was ended by SIG{}{}", name, memory)
              : fmt::format("was ended by signal {}", end.value);
}

std::string ends_by_of(const Call& c, const CommView* comm) {
  if (c.status == Call::Status::kFailed) return "it has already left with an error";
  if (c.open() && c.deadline() > c.entered)
    return fmt::format("its own limit of {}", to_text(c.deadline() - c.entered));
  if (comm && comm->timeout != Duration::zero())
    return fmt::format("the communicator's limit of {}", to_text(comm->timeout));
  return "";
}

std::vector<Side> sides_of(const std::vector<MemberCall>& member_calls, const CommGroup& group) {
  std::vector<Side> sides;
  for (const MemberCall& one : member_calls) {
    Side side;
    if (one.call) {
      side.op = op_text(one.call->op());
      side.what = call_text(*one.call, group, false);
      if (const std::string bucket = gradient_bucket_text(*one.member, *one.call); !bucket.empty())
        side.what += fmt::format(" ({})", bucket);
      side.call_site = call_site_of(*one.member->process, *one.call);
    } else {
      side.what = "no call";
    }
    const auto same = std::find_if(sides.begin(), sides.end(), [&](const Side& s) {
      return s.op == side.op && s.what == side.what && s.call_site == side.call_site;
    });
    Side& at = same != sides.end() ? *same : sides.emplace_back(std::move(side));
    at.ranks.push_back(one.member->world_rank);
  }
  for (Side& s : sides) s.ranks = sorted_unique(std::move(s.ranks));
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.ranks < b.ranks; });
  return sides;
}

void set_comm(Finding& finding, const CommGroup& group) {
  finding.comm = group.name;
  finding.comm_id = group.id;
}

void set_seq(Finding& finding, const Call& c) {
  if (!is_message(c.op()) && !rf_is_named(c.op())) finding.seq = SeqRange{c.seq, c.seq};
}

void set_time(Finding& finding, const Process& whose, Instant at) {
  finding.at = at;
  finding.clock = clock_of(*whose.view);
}

std::vector<int> sorted_unique(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace rankfault
