// diagnose: runs every rule over the joined view of a Timeline and orders the findings.
#include <fmt/format.h>

#include <algorithm>

#include "harness/agent/named_calls.h"
#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/numbered_groups.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/timing/wait_thresholds.h"
#include "harness/diagnose/waits/polls.h"

namespace rankfault {
namespace {

// The rules examine ranks only. A rank whose helper hangs may have to wait for the helper.
std::string helper_that_waits(const Timeline& t, Duration slow) {
  for (const ProcessView& p : t.processes)
    for (const LaneView& l : p.helper&& p.end.kind == EndKind::kAlive ? p.lanes : std::vector<LaneView>{})
      if (l.state.where == RF_INSIDE && lasted(instant_of(l.state.since_ns), t.look) > slow)
        return fmt::format(
            "process {}, a helper of rank {}, has been inside {} for long; rankfault does not judge helpers",
            p.id.pid, p.rank, op_text(l.state.op));
  return "";
}

// Describes a collective that a rank has long polled; "" if there is none.
std::string polled_for(const JobView& job, const DiagnoseOptions& options) {
  const Instant look = job.timeline().look;
  for (const PlaceWait& w : job.waits().collective)
    if (w.place->group->traits().pending_holds_no_rank && !w.held && polls(*w.waiter->process, look) &&
        lasted(w.call->entered, look) > options.hung_after)
      return fmt::format("rank {} has tested {} for long without success, and no rule explains it",
                         w.waiter->world_rank, call_text(*w.call, *w.place->group));
  return "";
}

// Names the kind of the calls that no decoder describes; "" if there are none.
std::string unrecorded_kind(uint32_t opaque) {
  if (opaque & RF_OPAQUE_COMMUNICATION) return "communication";
  if (opaque & RF_OPAQUE_IO) return "I/O";
  return opaque & RF_OPAQUE_RMA ? "one-sided" : "";
}

// Describes a rank that has long been outside recorded calls and makes calls without a record; "" if there is
// none.
std::string unrecorded(const JobView& job, const DiagnoseOptions& options) {
  for (const auto& p : job.processes()) {
    const std::string kind = unrecorded_kind(p->view->opaque);
    if (!kind.empty() && !p->ended() && p->all_inside().empty() &&
        lasted(outside_since(*p), job.timeline().look) > options.hung_after)
      return fmt::format(
          "rank {} has been outside every recorded call for long, and it makes {} calls that rankfault does "
          "not record",
          p->rank(), kind);
  }
  return "";
}

// The rules look for missing members. Here no member is missing, and the call does not complete.
bool stands_though_all_came(const Call& c, const CommGroup& group, Instant look,
                            const DiagnoseOptions& options) {
  Duration starved{};
  for (const Member& m : group.members) {
    if (m.entered(c.seq) == Known::kNo) return false;
    if (m.process) starved = std::max(starved, m.process->view->starved);
  }
  const Duration limit = patience_with_completion(group, c.op(), options.hung_after).limit;
  return lasted(c.entered, look) > while_starved(limit, limit, starved);
}

// Returns why an empty result does not mean that nothing is wrong; "" if it does.
std::string blind_spot(const JobView& job, const DiagnoseOptions& options) {
  const Timeline& t = job.timeline();
  for (const ExpectedRank& e : t.expected)
    if (const Process* p = job.rank(e.rank);
        e.attempt == t.attempt && (!p || (p->calls.empty() && !p->has_streams())))
      return e.unread ? fmt::format("the record of rank {} cannot be read", e.rank)
                      : fmt::format("rank {} has no {}record", e.rank, p ? "call on " : "");
  for (const auto& p : job.processes())
    for (const Call* c : p->ended() ? std::vector<const Call*>{} : p->all_inside()) {
      const Duration long_after = rf_is_named(c->op()) ? options.hung_after : options.slow_after;
      if (lasted(c->entered, t.look) <= long_after || rf_is_inner(c->op())) continue;
      const CommGroup* group = job.group(*p, c->comm());
      const bool inter = group && group->flags & RF_COMM_INTER;
      if (is_collective(c->op()) && group && !inter && !stands_though_all_came(*c, *group, t.look, options))
        continue;  // the rules about collectives have examined it
      return fmt::format("rank {} has been inside {} for long, and no rule explains it", p->rank(),
                         group ? call_text(*c, *group) : name_of_call(*c));
    }
  if (const std::string polled = polled_for(job, options); !polled.empty()) return polled;
  if (const std::string calls = unrecorded(job, options); !calls.empty()) return calls;
  return helper_that_waits(t, options.slow_after);
}

// Describes what the rules did not examine.
std::string not_looked_at(const JobView& job) {
  std::string text;
  const std::vector<ProcessView>& all = job.timeline().processes;
  if (const auto n = std::count_if(all.begin(), all.end(), [](const auto& p) { return p.helper; }))
    text += fmt::format("; {} of ranks not judged", counted(static_cast<size_t>(n), "helper"));
  for (const auto& p : job.processes())
    if (p->view->partial & RF_PARTIAL_COMMS)
      return text + fmt::format(
                        "; rank {} had more than {} communicators at the same time, and calls on the "
                        "rest were not compared",
                        p->rank(), RF_MAX_COMMS);
  return text;
}

// Makes the finding of a diagnosis without findings, with its basis: a job without a record is not a healthy
// job.
Finding quiet(const JobView& job, const DiagnoseOptions& options) {
  size_t members = 0, calls = 0;
  uint64_t made = 0, lost = 0;  // calls that were made, kept or not; records that are not kept
  for (const auto& p : job.processes()) {
    members += p->member();
    lost += p->view->history_lost;
    for (const LaneView& lane : p->view->lanes) made += lane.state.call;
    if (!p->has_streams()) calls += p->calls.size();
    // A recorder's history holds only pending work; its counters show how much was entered.
    for (const CommView& c : p->view->comms) calls += p->has_streams() ? c.entered : 0;
  }
  Finding f;
  f.attempt = job.attempt();
  f.at = job.timeline().look;
  const std::string blind = blind_spot(job, options);
  f.kind = members != 0 && calls != 0 && blind.empty() ? "none" : "cannot_say";
  f.text =
      members == 0     ? "rankfault recorded no rank of the job"
      : calls == 0     ? fmt::format("rankfault recorded {} processes and no call", members)
      : !blind.empty() ? blind
      : lost != 0 && made > calls
          ? fmt::format("nothing is wrong in the newest {} of {} calls of {} processes", calls, made, members)
          : fmt::format("nothing is wrong in {} calls of {} processes", calls, members);
  if (f.kind == "none") f.text += not_looked_at(job);
  return f;
}

// A call that a jump left is still open, or the thread's next call ended it.
bool left_by_jump(const Call& c) {
  return c.open() ||
         (c.traits().left_by_jump && c.status == Call::Status::kFailed && c.result() == RF_RESULT_THROWN);
}

// A ring that lost records may also have lost the end of a call.
std::vector<ClaimedCall> left_by_jumps(const JobView& job) {
  std::vector<ClaimedCall> found;
  for (int rank = 0; rank < job.timeline().world_size; ++rank) {
    const Process* p = job.rank(rank);
    if (!p || !p->ended_with_0()) return {};
    for (const Call& c : p->calls)
      if (left_by_jump(c) && p->view->history_lost == 0) found.push_back({rank, c.lane, c.number});
  }
  return found;
}

// What a rank did after its node was last heard is not known, so only the rule about lost nodes blames it.
bool blames_unheard_rank(const Finding& f, const JobView& job) {
  return f.kind != "lost_node" && std::any_of(f.ranks.begin(), f.ranks.end(), [&](int rank) {
           const Process* p = job.rank(rank);
           return p && !p->ended() && is_known(p->view->unheard_since);
         });
}

// The event that a finding is about is one of its ranks, or of several.
NodeClock clock_of_its_ranks(const Finding& f, const JobView& job) {
  std::optional<NodeClock> clock;
  const auto take = [&](const std::vector<int>& ranks) {
    for (const int rank : ranks) {
      const Process* p = job.rank(rank);
      if (!p) continue;
      const NodeClock own = clock_of(*p->view);
      if (!clock) clock = own;
      if (clock->node != own.node) clock->node.clear();
      clock->error = std::max(clock->error, own.error);
    }
  };
  take(f.ranks);
  for (const Side& side : f.sides) take(side.ranks);
  return clock.value_or(NodeClock{});
}

std::vector<Finding>& list_of(const Finding& f, Findings& findings) {
  if (f.confidence == Confidence::kStrict) return findings.unsafe;
  return f.confidence == Confidence::kRemark ? findings.remarks : findings.all;
}

}  // namespace

Findings diagnose(const Timeline& timeline, const DiagnoseOptions& options) {
  const JobView job(timeline);
  Findings findings;
  for (const Rule* rule : Catalog<Rule>::instance().all())
    for (Finding& f : rule->look(job, options)) {
      if (blames_unheard_rank(f, job)) continue;
      if (!f.clock) f.clock = clock_of_its_ranks(f, job);
      for (std::string& line : lines_about_groups(job, f.text)) f.evidence.push_back(std::move(line));
      list_of(f, findings).push_back(std::move(f));
    }
  findings.left_by_jumps = left_by_jumps(job);
  findings.strict_known = job.strict_cycle().has_value();
  order_by_cause(findings.all);
  if (findings.all.empty()) findings.all.push_back(quiet(job, options));
  return findings;
}

// Removes what state_to_json() omits. Source lines without a recorded call site are not in it either.
Timeline canonical(Timeline timeline) {
  for (ProcessView& p : timeline.processes) {
    p.ancestors.clear();
    p.spawned = false;
    for (CommView& c : p.comms) c.started = 0;
    std::erase_if(p.source_lines, [&](const auto& line) { return p.call_sites.count(line.first) == 0; });
  }
  return timeline;
}

}  // namespace rankfault
