// wedged: every member is inside its call, no member is missing, and nothing completes. The transport does
// not move, or it cannot because the calls differ (then call_mismatch or missing_call reports that first, and
// this finding reports that the job is stuck). It blames no rank and proves nothing: a large call may take
// long.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequence/sequences.h"
#include "harness/diagnose/timing/wait_thresholds.h"
#include "harness/diagnose/waits/late_ranks.h"
#include "harness/diagnose/waits/polls.h"
#include "harness/diagnose/waits/stream_order.h"

namespace rankfault {
namespace {

// Whether the library runs the call on a thread of its own (PyTorch over Gloo).
bool is_executed(const Member& m, const Call& c) {
  const std::vector<Call>& calls = m.process->calls;
  return std::any_of(calls.begin(), calls.end(), [&](const Call& e) {
    return e.flags() & RF_CALL_EXECUTION && e.open() && e.comm() == c.comm() && e.seq == c.seq;
  });
}

bool waits_in(const Member& m, const Call& c, Instant look) {
  return c.open() || (c.status == Call::Status::kPending &&
                      (m.process->held_by(c) || is_executed(m, c) || polls(*m.process, look)));
}

// Returns the call that each member is inside, or has enqueued and waits for. Empty if one member is in none.
// Where calls differ, a member that has not come to them is ignored: they do not match whether it comes or
// not.
std::vector<MemberCall> all_inside(const CommGroup& group, const Divergence* differs, Instant look) {
  std::vector<MemberCall> member_calls;
  for (const Member& m : group.members) {
    if (!m.comm) return {};
    if (differs && differs->pairs_differ && m.last_entered() < differs->seq) continue;
    if (m.process->ended() || m.process->view->stopped) return {};
    const Call* c = m.at(m.last_entered());
    if (!c || !waits_in(m, *c, look) || c->op() == RF_OP_FINALIZE) return {};
    member_calls.push_back({&m, c});
  }
  return member_calls;
}

const MemberCall& earliest(const std::vector<MemberCall>& member_calls) {
  return *std::min_element(
      member_calls.begin(), member_calls.end(),
      [](const MemberCall& a, const MemberCall& b) { return a.call->seq < b.call->seq; });
}

// Calls that differ do not complete even with a core. A member at a later place has left the earlier call.
bool can_match(const std::vector<MemberCall>& member_calls, bool differs) {
  const Call& first = *earliest(member_calls).call;
  return std::all_of(member_calls.begin(), member_calls.end(), [&](const MemberCall& one) {
    return one.call->seq == first.seq ? difference(first, *one.call).empty() : !differs;
  });
}

// A call that never begins because of earlier work on its stream is not a fault of the transport.
bool is_behind(const std::vector<MemberCall>& member_calls, const StreamKnot& knot) {
  return std::any_of(member_calls.begin(), member_calls.end(),
                     [&](const MemberCall& one) { return knot.stuck.count(one.call) != 0; });
}

// Returns since when nothing has moved: the last member came, or the last earlier call completed.
Instant stands_since(const std::vector<MemberCall>& member_calls) {
  Instant last;
  for (const MemberCall& one : member_calls) {
    last = std::max(last, one.call->entered);
    for (const Call* c : one.member->calls)
      if (c->succeeded()) last = std::max(last, c->left);
  }
  return last;
}

std::string who_text(const std::vector<MemberCall>& member_calls, const CommGroup& group) {
  if (member_calls.size() == group.size) return fmt::format("all {} members", group.size);
  std::vector<int> ranks;
  for (const MemberCall& one : member_calls) ranks.push_back(one.member->world_rank);
  return ranks_text(sorted_unique(std::move(ranks)));
}

// Some ranks may have left the call that the others are in, and wait for them in a later call.
std::string what_text(const std::vector<MemberCall>& member_calls, const CommGroup& group, bool may_match) {
  const Call& first = *earliest(member_calls).call;
  std::vector<int> standing;
  for (const MemberCall& one : member_calls)
    if (one.call->seq == first.seq) standing.push_back(one.member->world_rank);
  if (!may_match || standing.size() == member_calls.size())
    return fmt::format("{} are in {}", who_text(member_calls, group),
                       may_match ? short_call(first, group) + ", and it does not complete"
                                 : "different calls, and none completes");
  standing = sorted_unique(std::move(standing));
  return fmt::format(
      "{} {} in {}, which all members entered; the others wait in later calls, and no call completes",
      ranks_text(standing), standing.size() == 1 ? "is" : "are", short_call(first, group));
}

Duration with_starvation(Duration limit, const std::vector<MemberCall>& member_calls) {
  Duration starved{};
  for (const MemberCall& one : member_calls) starved = std::max(starved, one.member->process->view->starved);
  return while_starved(limit, limit, starved);
}

// Every member is in a call that all make and that is known only by its name (MPI-IO, windows), and the calls
// differ: one closes the file while another still writes it.
std::vector<MemberCall> in_different_named_calls(const CommGroup& group) {
  std::vector<MemberCall> member_calls;
  for (const Member& m : group.members) {
    const Call* c = in_call_of_all(m);
    if (!c || m.process->view->stopped) return {};
    member_calls.push_back({&m, c});
  }
  const bool same = std::all_of(member_calls.begin(), member_calls.end(), [&](const MemberCall& one) {
    return one.call->tag() == member_calls.front().call->tag();
  });
  return same ? std::vector<MemberCall>{} : member_calls;
}

std::optional<Finding> named_calls_differ(const JobView& job, const CommGroup& group, Duration limit) {
  const std::vector<MemberCall> member_calls = in_different_named_calls(group);
  if (member_calls.empty() || !group.traits().has_named_calls) return std::nullopt;
  Finding f;
  f.kind = "wedged";
  f.attempt = job.attempt();
  for (const MemberCall& one : member_calls) f.at = std::max(f.at, one.call->entered);
  if (lasted(f.at, job.timeline().look) <= with_starvation(limit, member_calls)) return std::nullopt;
  f.op = op_text(member_calls.front().call->op());
  set_comm(f, group);
  f.sides = sides_of(member_calls, group);
  f.text = fmt::format(
      "all {} members of {} are in different calls that every member makes, and no call "
      "completes, {}",
      group.size, group.name, WaitThreshold{limit, {}}.text());
  f.evidence = {f.text};
  return f;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  const std::vector<Divergence>& diverged = divergences(job);
  for (const CommGroup& group : job.comms()) {
    if (std::optional<Finding> f = named_calls_differ(job, group, options.hung_after))
      found.push_back(std::move(*f));
    const auto differs = std::find_if(diverged.begin(), diverged.end(),
                                      [&](const Divergence& d) { return d.group == &group; });
    const std::vector<MemberCall> member_calls =
        all_inside(group, differs == diverged.end() ? nullptr : &*differs, job.timeline().look);
    if (member_calls.empty() || group.size < 2) continue;
    const Call& first = *earliest(member_calls).call;
    const Instant last = stands_since(member_calls);
    const Duration waited = lasted(last, job.timeline().look);
    if (waited <= options.hung_after) continue;
    // A rank that waits for a core may still move the call: then a neighbour causes the delay, not the
    // transport. (Ranks that spin on too few cores starve each other and are reported later by that time.)
    WaitThreshold patience{options.hung_after, {}};
    const bool may_match = can_match(member_calls, differs != diverged.end());
    if (may_match) {
      patience = patience_with_completion(group, first.op(), options.hung_after);
      if (waited <= with_starvation(patience.limit, member_calls)) continue;
    }
    if (is_behind(member_calls, job.stream_knot(options))) continue;
    Finding f;
    f.kind = "wedged";
    f.attempt = job.attempt();
    f.op = op_text(first.op());
    set_comm(f, group);
    f.seq = SeqRange{first.seq, first.seq};
    f.sides = sides_of(member_calls, group);
    f.at = last;
    f.ends_by = ends_by_of(first, earliest(member_calls).member->comm);
    f.text = fmt::format("{}, {}", what_text(member_calls, group, may_match), patience.text());
    f.evidence = {f.text};
    if (group.traits().runs_on_streams)
      f.evidence.emplace_back(
          "earlier kernels and copies on its stream may block it; the record does not show them");
    found.push_back(std::move(f));
  }
  for (const LateRank& late : late_ranks(job, options))
    if (late.hung && late.why == LateRank::Why::kWaits) found.push_back(late_finding(job, late, "wedged"));
  return found;
}

const Registration<Rule> kRule{{
    .name = "wedged",
    .summary = "every member entered the call, and it does not complete",
    .look = look,
    .proof = "Never proven. The finding blames no rank, because all ranks entered the call.",
    .example = "all 4 members are in all_reduce 31 on world, and it does not complete",
    .next = "Look at the transport: links, sockets and their queues in the evidence, shared memory, the "
            "device. The finding names calls that differ.",
    .traits = {.rank_may_come = true, .says_it_hangs = true},
}};

}  // namespace
}  // namespace rankfault
