// wedged: every member is inside its call, nobody is missing, and nothing completes: the transport does not
// move, or cannot, where the calls are not the same (then call_mismatch or missing_call says so first, and
// this that the job stands). Blames nobody, and proves nothing: a large call may take long.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/patience.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequences.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

bool waits_in(const Member& m, const Call& c) {
  return c.open() ||
         (c.library() == RF_LIB_NCCL && c.status == Call::Status::kPending && m.process->held_by(c));
}

// The call that all members are inside, or have enqueued and wait for; 0: none.
uint64_t common_call(const CommGroup& group) {
  uint64_t seq = 0;
  for (const Member& m : group.members) {
    if (!m.comm || m.process->ended() || m.process->view->stopped) return 0;
    const Call* c = m.at(m.last_entered());
    if (!c || !waits_in(m, *c) || c->op() == RF_OP_FINALIZE || (seq != 0 && c->seq != seq)) return 0;
    seq = c->seq;
  }
  return seq;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  const std::vector<Divergence>& diverged = divergences(job);
  for (const CommGroup& group : job.comms()) {
    const uint64_t seq = common_call(group);
    const bool differs =
        std::any_of(diverged.begin(), diverged.end(), [&](const Divergence& d) { return d.group == &group; });
    if (seq == 0 || group.size < 2) continue;
    TimeNs last = 0, starved = 0;
    std::vector<Seat> seats;
    for (const Member& m : group.members) {
      last = std::max(last, m.at(seq)->entered);
      seats.push_back({&m, m.at(seq)});
      starved = std::max(starved, m.process->view->starved);
    }
    const Duration waited = lasted(last, job.timeline().look);
    const uint16_t op = group.members.front().at(seq)->op();
    if (waited <= options.hung_after) continue;
    const Patience patience = patience_with_completion(group, op, options.hung_after);
    // Who waits for a core may yet move the call: a neighbour's doing, not the transport's. (Ranks that spin
    // on fewer cores than they are starve each other, and are told later by so much.)
    if (waited <= patience.limit + Duration(static_cast<int64_t>(starved))) continue;
    Finding f;
    f.kind = "wedged";
    f.attempt = job.attempt();
    f.op = op_text(op);
    set_comm(f, group);
    f.seq = SeqRange{seq, seq};
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
