#include "harness/diagnose/waits/nccl_missing.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/diagnose/messages/message_sizes.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/timing/wait_thresholds.h"
#include "harness/diagnose/waits/stream_order.h"
#include "harness/diagnose/waits/waits.h"

namespace rankfault {
namespace {

Finding missing(const JobView& job, const CommGroup& group, std::vector<int> ranks, uint16_t op) {
  Finding f;
  f.kind = "missing_call";
  f.attempt = job.attempt();
  f.ranks = std::move(ranks);
  f.op = op_text(op);
  set_comm(f, group);
  return f;
}

// For a member whose calls are in a circle on their streams because it omitted a call that it made in all
// earlier rounds.
Finding tell(const JobView& job, const StreamKnot& knot, const LeftOut& left) {
  Finding f = missing(job, *left.group, {left.member->world_rank}, left.example->op());
  set_time(f, *left.member->process, left.after->entered);
  f.call_site = call_site_of(*left.member->process, *left.example);
  f.text = fmt::format("{} left out {} before {}; it made one there in each earlier round",
                       member_text(*left.group, *left.member), called_text(*left.example, *left.group),
                       called_text(*left.after, *left.group));
  f.evidence = {f.text};
  for (const StreamKnot::Step& s : knot.steps) {
    if (s.at == left.member) continue;
    f.sides.push_back({{s.at->world_rank},
                       op_text(s.before->op()),
                       call_text(*s.before, *s.before_group),
                       call_site_of(*s.at->process, *s.before)});
    f.evidence.push_back(fmt::format("{} waits for {}", member_text(*s.before_group, *s.at),
                                     call_text(*s.before, *s.before_group)));
  }
  f.sides.push_back({f.ranks, "", "no call", ""});
  return f;
}

std::string sizes_text(const UnevenPair& p) {
  return fmt::format("message {} of rank {} to rank {} has {} bytes, and rank {} receives {}", p.place,
                     p.sender->world_rank, p.receiver->world_rank, p.send->bytes(), p.receiver->world_rank,
                     p.receive->bytes());
}

const Member& partner_of(const UnevenPair& p) { return p.ahead == p.sender ? *p.receiver : *p.sender; }

// For the uneven pairs of one communicator. Either the ranks that are ahead omitted what their partners still
// wait for, or the partners made one message too many. The finding blames the smaller side, and no rank if
// both are equal.
Finding tell(const JobView& job, const std::vector<UnevenPair>& pairs) {
  const UnevenPair& first = pairs.front();
  std::vector<int> ahead, behind;
  std::vector<std::string> evidence;
  for (const UnevenPair& p : pairs) {
    ahead.push_back(p.ahead->world_rank);
    behind.push_back(partner_of(p).world_rank);
    evidence.push_back(sizes_text(p));
  }
  ahead = sorted_unique(std::move(ahead));
  behind = sorted_unique(std::move(behind));
  Finding f = missing(job, *first.group, ahead, first.ahead == first.sender ? RF_OP_SEND : RF_OP_RECV);
  f.at = std::max(first.send->entered, first.receive->entered);
  const bool sends = first.ahead == first.sender;
  const Call &left = sends ? *first.receive : *first.send, &made = sends ? *first.send : *first.receive;
  const Member& other = partner_of(first);
  f.call_site = call_site_of(*first.ahead->process, made);
  f.sides = {{f.ranks, op_text(made.op()), call_text(made, *first.group), f.call_site},
             {{other.world_rank},
              op_text(left.op()),
              call_text(left, *first.group),
              call_site_of(*other.process, left)}};
  f.text = fmt::format("{} left out message {} {} rank {} on {}: {}", ranks_text(f.ranks), first.place,
                       sends ? "to" : "from", other.world_rank, first.group->name, sizes_text(first));
  if (ahead.size() >= behind.size()) {
    f.ranks.clear();
    f.text = fmt::format("either {}, or {} made one too many", f.text, ranks_text(behind));
  }
  f.evidence = std::move(evidence);
  return f;
}

std::vector<Finding> by_sizes(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  std::vector<UnevenPair> all = uneven_messages(job);
  for (const CommGroup& group : job.comms()) {
    std::vector<UnevenPair> pairs;
    for (const UnevenPair& p : all)
      if (p.group == &group) pairs.push_back(p);
    const auto is_told = [&](const UnevenPair& p) {
      const Instant since = std::max(p.send->entered, p.receive->entered);
      return p.ahead && lasted(since, job.timeline().look) > options.slow_after;
    };
    if (pairs.empty() || !std::all_of(pairs.begin(), pairs.end(), is_told)) continue;
    found.push_back(tell(job, pairs));
  }
  return found;
}

// For a process that is several members: it waits on the device of one for a call that another one has not
// made.
std::vector<Finding> by_own_members(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  std::set<const Place*> named;
  for (const PlaceWait& w : job.waits().collective) {
    if (!w.held || w.held->op() != RF_OP_STREAM_WAIT || named.count(w.place)) continue;
    for (const auto& [m, entered] : w.place->missing) {
      if (m == w.waiter || m->process != w.waiter->process || !m->comm) continue;
      if (entered != Known::kNo || !w.needs_member(*m)) continue;
      const Duration waited = lasted(w.held->entered, job.timeline().look);
      if (only_issuer(*m->comm) != w.held->lane && waited <= options.hung_after) continue;
      named.insert(w.place);
      const CommGroup& group = *w.place->group;
      Finding f = missing(job, group, {m->process->rank()}, w.call->op());
      set_time(f, *w.waiter->process, w.call->entered);
      set_seq(f, *w.call);
      f.call_site = call_site_of(*w.waiter->process, *w.call);
      f.text = fmt::format("{} left out {}, which {} waits for", member_text(group, *m),
                           short_call(*w.call, group), member_text(group, *w.waiter));
      f.evidence = {
          fmt::format("rank {} {}", w.waiter->world_rank, stands_text("waits in", *w.call, w.held, group))};
      f.sides = {{f.ranks, op_text(w.call->op()), call_text(*w.call, group), f.call_site}};
      found.push_back(std::move(f));
    }
  }
  return found;
}

}  // namespace

std::vector<Finding> missing_in_nccl(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found = by_sizes(job, options);
  for (Finding& f : by_own_members(job, options)) found.push_back(std::move(f));
  const StreamKnot& knot = job.stream_knot(options);
  if (const std::optional<LeftOut> left = knot.steps.empty() ? std::nullopt : left_out(knot))
    found.push_back(tell(job, knot, *left));
  return found;
}

}  // namespace rankfault
