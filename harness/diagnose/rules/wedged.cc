// wedged: every member is inside its call, nobody is missing, and nothing completes: the transport does not
// move, or cannot, where the calls are not the same (then call_mismatch or missing_call says so first, and
// this that the job stands). Blames nobody, and proves nothing: a large call may take long.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/patience.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequences.h"
#include "harness/diagnose/stream_order.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

bool waits_in(const Member& m, const Call& c) {
  return c.open() ||
         (c.library() == RF_LIB_NCCL && c.status == Call::Status::kPending && m.process->held_by(c));
}

// The calls that all members are inside, or have enqueued and wait for: the same one, or, once they made
// calls that differ, whichever each has come to. Empty: one is in none.
std::vector<Seat> all_inside(const CommGroup& group, bool differs) {
  std::vector<Seat> seats;
  for (const Member& m : group.members) {
    if (!m.comm || m.process->ended() || m.process->view->stopped) return {};
    const Call* c = m.at(m.last_entered());
    if (!c || !waits_in(m, *c) || c->op() == RF_OP_FINALIZE) return {};
    if (!differs && !seats.empty() && c->seq != seats.front().call->seq) return {};
    seats.push_back({&m, c});
  }
  return seats;
}

// Calls of different operations, or at different places, do not complete with a core either.
bool can_match(const std::vector<Seat>& seats) {
  const Call& first = *seats.front().call;
  return std::all_of(seats.begin(), seats.end(), [&](const Seat& seat) {
    return seat.call->seq == first.seq && seat.call->op() == first.op();
  });
}

// What never begins, because of what stands before it on a stream, is not the transport's doing.
bool is_behind(const std::vector<Seat>& seats, const StreamKnot& knot) {
  return seats.front().call->library() == RF_LIB_NCCL && !knot.steps.empty();
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  const std::vector<Divergence>& diverged = divergences(job);
  for (const CommGroup& group : job.comms()) {
    const bool differs =
        std::any_of(diverged.begin(), diverged.end(), [&](const Divergence& d) { return d.group == &group; });
    const std::vector<Seat> seats = all_inside(group, differs);
    if (seats.empty() || group.size < 2) continue;
    TimeNs last = 0, starved = 0;
    for (const Seat& seat : seats) {
      last = std::max(last, seat.call->entered);
      starved = std::max(starved, seat.member->process->view->starved);
    }
    const Duration waited = lasted(last, job.timeline().look);
    const uint16_t op = seats.front().call->op();
    if (waited <= options.hung_after) continue;
    const Patience patience = patience_with_completion(group, op, options.hung_after);
    // Who waits for a core may yet move the call: a neighbour's doing, not the transport's. (Ranks that spin
    // on fewer cores than they are starve each other, and are told later by so much.)
    if (!can_match(seats)) starved = 0;
    if (waited <= patience.limit + Duration(static_cast<int64_t>(starved))) continue;
    if (is_behind(seats, find_stream_knot(job, options))) continue;
    Finding f;
    f.kind = "wedged";
    f.attempt = job.attempt();
    f.op = op_text(op);
    set_comm(f, group);
    f.seq = SeqRange{seats.front().call->seq, seats.front().call->seq};
    f.sides = sides_of(seats, group);
    f.at = last;
    f.ends_by = ends_by_of(*seats.front().call, seats.front().member->comm);
    f.text = fmt::format("all {} members are in {} and nothing completes, {}", group.size,
                         differs ? "calls that are not the same" : short_call(*seats.front().call, group),
                         patience.told());
    f.evidence = {f.text};
    if (group.library == RF_LIB_NCCL)
      f.evidence.emplace_back("it comes after all else on their streams, which is not recorded");
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{"wedged", "every member entered the call and nothing completes", look}};

}  // namespace
}  // namespace rankfault
