// missing_call: some ranks omitted a call that the others made. Their sequences then shift, and sooner or
// later a rank waits for a call that never comes.
#include <fmt/format.h>

#include "harness/diagnose/messages/left_out_send.h"
#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/messages/unmatched_messages.h"
#include "harness/diagnose/messages/unreceived_messages.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequence/pairing.h"
#include "harness/diagnose/waits/deadlock.h"
#include "harness/diagnose/waits/nccl_missing.h"

namespace rankfault {
namespace {

// "all_reduce 40", "one all_reduce of calls 1 to 8", "3 calls from all_reduce 40".
std::string what_text(const Finding& f, const Divergence& d) {
  const std::string op = f.op.empty() ? "call" : f.op;
  if (d.alignment.length > 1) return fmt::format("{} calls from {} {}", d.alignment.length, op, f.seq->from);
  if (f.seq->from != f.seq->to) return fmt::format("one {} of calls {} to {}", op, f.seq->from, f.seq->to);
  return fmt::format("{} {}", op, f.seq->from);
}

// A live process that destroyed its communicators may be ending because of a failure.
const Member* end_not_known(const Divergence& d, const std::vector<const Member*>& absent) {
  for (const Member* m : absent)
    if (m->comm->destroyed && !m->process->ended() && !d.group->traits().freed_by_program_alone &&
        d.to > m->last_entered())
      return m;
  return nullptr;
}

// Different calls are at one place, and no later call shows whether one is missing or one is extra.
std::string both_readings(const Divergence& d, const std::string& missing, const std::string& left_out) {
  const Member* m = d.minority.front();
  const Call* own = m->at(d.seq);
  if (d.lone_root || !d.pairs_differ || d.alignment.seen || !own) return missing;
  return fmt::format("{} made {} too few ({}) or one too many ({} {}) on {}; no later call decides which",
                     ranks_text(world_ranks(d.minority)),
                     d.alignment.length > 1 ? "several calls" : "one call", left_out, op_text(own->op()),
                     own->seq, d.group->name);
}

Finding tell(const JobView& job, const Divergence& d) {
  Finding f = finding_about(job, d, "missing_call");
  const auto& came = d.lone_root ? d.minority : d.majority;
  const auto& absent = d.lone_root ? d.majority : d.minority;
  name_call(f, d, came);
  if (d.pairs_differ) {
    prove_pairing(f, d);
    // The pairing is proven. That this missing call caused it is only as certain as the alignment.
    if (d.lone_root || !d.alignment.seen) {
      only_infer(f);
      f.evidence.emplace_back(
          d.lone_root ? "when a root is alone in its call, the rule assumes that the others left the call out"
                      : "earlier rounds of the ranks suggest which call is missing");
    }
  } else if (!prove_waiting(f, d, came, absent)) {
    prove_pairing(f, d);
  }
  if (const Member* m = end_not_known(d, absent)) {
    only_infer(f);
    f.evidence.push_back(
        fmt::format("rank {} destroyed its communicator and has not ended yet", m->world_rank));
  }
  const std::string who = ranks_text(world_ranks(absent)), what = what_text(f, d);
  f.text = fmt::format("{} left out {} on {}", who, what, d.group->name);
  if (f.ranks.empty())
    f.text = fmt::format("either {}, or {} made one too many", f.text, ranks_text(world_ranks(came)));
  else
    f.text = both_readings(d, f.text, what);
  if (d.lone_root)
    f.text = fmt::format("{} did not make {} on {}; its root, {}, made it alone", who, what, d.group->name,
                         ranks_text(world_ranks(came)));
  return f;
}

// A rank waits for a message, and its sender left it out in one round of its loop. It is inferred: the
// message may be missing on purpose, and the receive may be one too many.
Finding tell(const JobView& job, const WaitEdge& e, const LeftOutSend& left) {
  const Process& sender = *e.missing->process;
  const std::string send = called_text(*left.example, *e.group), site = call_site_of(sender, *left.example);
  Finding f;
  f.kind = "missing_call";
  f.attempt = job.attempt();
  f.ranks = {e.missing->world_rank};
  f.op = op_text(left.example->op());
  set_time(f, sender, left.after->entered);
  f.call_site = site;
  set_comm(f, *e.group);
  const CommGroup* group = job.group(sender, left.after->comm());
  const std::string next = group ? called_text(*left.after, *group) : op_text(left.after->op());
  f.text = fmt::format("rank {} left out {} before {}; it sent one there in each of its other rounds",
                       e.missing->world_rank, send, next);
  f.sides = {{f.ranks, "", "left out " + send, site},
             {{e.waiter->world_rank},
              op_text(e.call->op()),
              call_text(*e.call, *e.group),
              call_site_of(*e.waiter->process, *e.call)}};
  f.evidence = {f.text,
                fmt::format("rank {} waits in {}", e.waiter->world_rank, call_text(*e.call, *e.group))};
  return f;
}

// Looks at the ranks that wait for each other: another rank's message may still come.
std::vector<Finding> left_out_of_rounds(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  if (job.waits().messages.empty()) return found;
  for (const WaitEdge& e : find_knot(job, options).edges)
    if (const std::optional<LeftOutSend> left = left_out_send(e)) found.push_back(tell(job, e, *left));
  return found;
}

// A rank that a deadlock kept from coming omitted nothing.
std::vector<Finding> look(const JobView& now, const DiagnoseOptions& options) {
  const JobView& job = now.before_timeouts();
  std::vector<Finding> found;
  for (const UnmatchedMessage& u : job.unsent())
    if (!u.ended_badly) found.push_back(describe_unmatched(job, u));
  for (const UnreceivedMessage& l : leftover_messages(job)) found.push_back(describe_unreceived(job, l));
  for (const Divergence& d : divergences(job)) {
    const bool outvoted = !d.pairs_differ && !d.lone_root && d.minority.size() > d.majority.size();
    if (d.lone_root || (d.alignment.kind == Alignment::Kind::kMissing && !outvoted))
      found.push_back(tell(job, d));
  }
  for (Finding& f : left_out_of_rounds(job, options)) found.push_back(std::move(f));
  for (Finding& f : missing_in_nccl(now, options)) found.push_back(std::move(f));
  return found;
}

const Registration<Rule> kRule{{
    .name = "missing_call",
    .summary = "ranks left out a call that the others made",
    .look = look,
    .proof = "The other members wait in the call, and the rank that left it out has ended, has finished MPI "
             "or has destroyed the communicator: it cannot make the call any more. Or records show the calls "
             "before and after the gap on every member.",
    .example = "rank 3 left out all_reduce 12 on world; it continued with barrier 12",
    .next = "Read the source lines of both sides. Look for a branch that depends on the rank or on local "
            "data (an empty batch, an early `continue`, `if rank == 0`).",
    .traits = {.precedence = 30, .compares_calls = true},
}};

}  // namespace
}  // namespace rankfault
