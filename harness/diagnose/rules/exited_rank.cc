// exited_rank: a process exited while others need a call that it never entered, or exited with a status other
// than 0.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "harness/base/last_words.h"
#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/end_times.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequence/sequences.h"
#include "harness/diagnose/waits/before_timeouts.h"
#include "harness/diagnose/waits/ended.h"

namespace rankfault {
namespace {

bool exited(const Process& p) {
  return p.ended() && p.rank() >= 0 && p.view->end.status_known && !p.view->end.by_signal;
}

using LastFailures = std::unordered_map<const Process*, const Call*>;

// Returns its last failed call, which shows why it gave up.
const Call* last_failure(const Process& p) {
  const Call* last = nullptr;
  for (const Call& c : p.calls)
    if (c.status == Call::Status::kFailed && !rf_is_inner(c.op()) && (!last || c.left > last->left))
      last = &c;
  return last;
}

// MPI requires MPI_Finalize before a process ends; without it the launcher ends the whole job.
bool left_mpi_open(const Process& p) {
  if (p.view->stage != RF_STAGE_MEMBER) return false;
  return std::any_of(p.view->comms.begin(), p.view->comms.end(), [](const CommView& c) {
    return traits_of(c.library).must_be_finalized && !c.destroyed;
  });
}

bool all_gave_up(const UnmetNeed& u) {
  return gave_up_on(*u.member) &&
         std::all_of(u.edges.begin(), u.edges.end(), [](const WaitEdge& e) { return gave_up_on(*e.waiter); });
}

// One rank that ends with an error makes calls of several others fail. If several ranks leave one after the
// other, the rank whose call failed made them leave.
bool most_failed_in_calls(const JobView& job, const LastFailures& failures) {
  int failed = 0, left = 0;
  for (const auto& p : job.processes())
    if (exited(*p) && p->view->end.value != 0) ++(failures.at(p.get()) ? failed : left);
  return failed > left;
}

bool was_hurt(const Process& p) { return p.ended() && p.rank() >= 0 && p.view->end.by_signal; }

// It had destroyed its communicators, and nothing says that it failed: some frameworks end their workers with
// a status other than 0 when the work is done (Ray: 1). The status of the job decides then, as soon as it is
// known.
bool may_be_done(const JobView& job, const Process& p, const Call* failure) {
  const ProcessView& view = *p.view;
  if (failure || view.comms.empty() || is_exception(view.end.last_words)) return false;
  if (job.timeline().job_status == JobStatus::kNotAllZero) return false;
  return std::all_of(view.comms.begin(), view.comms.end(), [](const CommView& c) { return c.destroyed; }) &&
         std::none_of(job.processes().begin(), job.processes().end(),
                      [](const auto& q) { return was_hurt(*q); });
}

struct ExitCollector {
  explicit ExitCollector(const JobView& of) : job(of) {
    for (const auto& p : job.processes()) failures[p.get()] = last_failure(*p);
    most_failed = most_failed_in_calls(job, failures);
  }
  const JobView& job;
  LastFailures failures;
  bool most_failed = false;
};

// If a call failed on this rank, the failure came before its exit and before the exits that it caused. The
// exception: a process without a failure of its own had already ended, and that end may be the reason for the
// failure.
Instant when_it_began(const ExitCollector& ends, const Process& p, const Call* failure) {
  if (!failure || gave_up_in(p) != failure) return p.view->end.time;
  for (const auto& other : ends.job.processes()) {
    const ProcessEnd& end = other->view->end;
    if (other.get() == &p || !other->ended()) continue;
    // Connections close before the end of their process is seen. A rank with a failed call is a victim
    // itself.
    const bool may_be_the_cause = end.by_signal || !end.status_known ||
                                  (end.value != 0 && !ends.failures.at(other.get()) && ends.most_failed);
    if (certainly_before(*other->view, end.time, *p.view, failure->left) ||
        (may_be_the_cause && maybe_before(*other->view, end.time, *p.view, failure->left + kSeenLate)))
      return p.view->end.time;
  }
  return failure->left;
}

// If other ranks failed because its call was missing, it was already leaving then: its end is seen after its
// connections closed. A call that failed long before its end failed for another reason. The time of the
// finding is then right before the first failure, on the clock of that rank.
void set_time_before_those_let_down(Finding& f, const ExitCollector& ends, const Process& p,
                                    const UnmetNeed& u) {
  set_time(f, p, p.view->end.time);
  if (p.view->end.value == 0 || !ends.most_failed) return;
  Instant first = kEndOfTime;
  for (const WaitEdge& e : u.edges) {
    const Process& waiter = *e.waiter->process;
    if (e.call->status != Call::Status::kFailed || !is_known(e.call->left) || e.call->left >= first) continue;
    if (maybe_before(*waiter.view, e.call->left + kSeenLate, *p.view, p.view->end.time)) continue;
    if (certainly_before(*p.view, p.view->end.time, *waiter.view, e.call->left)) continue;
    first = e.call->left;
    set_time(f, waiter, first - 1ns);
  }
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  if (std::none_of(job.processes().begin(), job.processes().end(), [](const auto& p) { return exited(*p); }))
    return found;
  const ExitCollector ends(job);
  const std::vector<Divergence>& diverged = divergences(job);
  for (const auto& p : job.processes()) {
    if (!exited(*p) || job.rank(p->rank()) != p.get()) continue;
    const bool zero = p->view->end.value == 0;
    // Others may wait for a call that it omitted long before: missing_call reports that.
    UnmetNeed u = is_blamed_in(diverged, *p) ? UnmetNeed{} : unmet_needs(job, *p);
    if (zero && u.group && is_message(u.edges.front().call->op())) u = {};  // missing_call reports that, too
    // Enqueued work that was not seen complete may be complete: a program need not check before it ends.
    if (zero && u.in_flight && u.group->traits().runs_on_streams) u = {};
    if (zero && u.group && all_gave_up(u)) u = {};  // and continued elsewhere with success
    const Call* failure = ends.failures.at(p.get());
    const bool needed = u.group && u.edges.front().is_need;
    const bool unfinalized = zero && left_mpi_open(*p);
    if (zero && !needed && !unfinalized) continue;
    if (failure && u.in_flight) {          // it did enter the call and is a victim itself
      if (zero && !unfinalized) continue;  // it recovered
      u = {};
    }
    if (!zero && !u.group && may_be_done(job, *p, failure)) continue;
    Finding f;
    f.kind = "exited_rank";
    f.ranks = {p->rank()};
    f.attempt = job.attempt();
    if (failure)
      set_time(f, *p, when_it_began(ends, *p, failure));
    else
      set_time_before_those_let_down(f, ends, *p, u);
    f.text = fmt::format("rank {} {}", p->rank(), end_text(p->view->end));
    if (unfinalized) f.text += " without MPI_Finalize";
    if (u.group) {
      describe_unmet(f, u);
      f.text += " " + unmet_need_text(u);
    } else {
      describe_place_of_end(f, job, *p);
    }
    if (failure) {
      const CommGroup* group = job.group(*p, failure->comm());
      f.text += fmt::format("; its {} had failed before that",
                            group ? short_call(*failure, *group) : op_text(failure->op()));
    }
    const bool has_evidence = !f.evidence.empty();
    describe_reason_of_end(f, *p);
    if (!has_evidence) f.evidence.insert(f.evidence.begin(), f.text);
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{
    .name = "exited_rank",
    .summary = "a process exited early or with an error",
    .look = look,
    .proof = "The process exited, and others wait for a call that it never entered.",
    .example = "rank 1 exited with 1; it wrote: RuntimeError: CUDA out of memory",
    .next =
        "Read the last lines of the rank's output in the evidence, then its whole log in the run directory.",
    .traits = {.precedence = 95, .is_end = true},
}};

}  // namespace
}  // namespace rankfault
