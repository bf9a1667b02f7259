// init_stall: ranks wait in initialisation, or gave up in it, for ranks that have not joined: these never
// started, are stuck before it, or died before it. The finished record shows the same as a look during the
// wait. An NCCL initialisation belongs to a communicator; only the launcher knows more about its members. So
// does a group of PyTorch (new_group).
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/meetings.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/waits/joining_ranks.h"
#include "harness/diagnose/waits/late_to_join.h"

namespace rankfault {
namespace {

// The ranks that waited in initialisation, the times of the wait, and the number of members needed; 0:
// unknown.
struct Wait {
  std::vector<int> ranks;
  Instant since = kEndOfTime, until;  // of the first and the last wait; each rank may have waited less
  const Process* last = nullptr;      // who gave up at `until`; null: some rank still waits
  Duration longest{0};                // of one rank
  bool over = true;                   // every rank gave up
  bool of_nccl = false;
  uint64_t members = 0;

  void add(const Joining& j) {
    ranks.push_back(j.process->rank());
    since = std::min(since, j.call->entered);
    if (j.until >= until) last = j.gave_up ? j.process : nullptr;
    until = std::max(until, j.until);
    longest = std::max(longest, lasted(j.call->entered, j.until));
    over = over && j.gave_up;
    if (of_nccl) members = std::max(members, j.call->count());
  }
  bool has(int rank) const { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); }
};

Wait waits(const JobView& job) {
  Wait out;
  for (const Joining& j : joining(job)) out.add(j);
  if (!out.ranks.empty()) return out;
  out.of_nccl = true;
  for (const Joining& j : joining_nccl(job)) out.add(j);
  return out;
}

bool had_ended(const Process& p, const Wait& wait) {
  if (!wait.last) return p.ended() && p.view->end.time <= wait.until;
  return p.ended() && !maybe_before(*wait.last->view, wait.until, *p.view, p.view->end.time);
}

std::string why_absent(const JobView& job, const ExpectedRank& expected, const Wait& wait) {
  const Process* p = job.rank(expected.rank);
  if (!p) return expected.started ? "was started and has no record" : "was never started";
  if (had_ended(*p, wait)) return fmt::format("{} before it joined", end_text(p->view->end));
  return wait.over ? "had started but not reached initialisation when the others gave up"
                   : "has started but not reached initialisation";
}

// Whether the rank was, as far as the record shows, on its way: a program may take long to load. After the
// job is over no rank can come.
bool may_come(const JobView& job, const ExpectedRank& expected, const Wait& wait) {
  const Process* p = job.rank(expected.rank);
  return p ? !had_ended(*p, wait) : !(wait.over && job.timeline().job_over);
}

size_t living_members(const JobView& job, const Wait& wait) {
  return static_cast<size_t>(std::count_if(
      job.processes().begin(), job.processes().end(),
      [&](const auto& p) { return p->member() && (!had_ended(*p, wait) || wait.has(p->rank())); }));
}

// An NCCL communicator may have only a part of the ranks. A rank that has left, or was a member before, is
// surely needed only if the communicator has more members than ranks are alive. Otherwise only ranks that
// never came may be awaited.
bool is_absent(const Process* p, bool surely_missing, const Wait& wait) {
  if (!p || !p->member()) return true;
  return had_ended(*p, wait) && surely_missing;
}

std::vector<Finding> of_absent_ranks(const JobView& job, const Wait& wait, const DiagnoseOptions& options) {
  if (wait.longest <= options.slow_after) return {};
  const bool surely_missing = !wait.of_nccl || wait.members > living_members(job, wait);
  bool all_may_come = true;
  std::vector<int> absent;
  std::string reasons;
  Finding f;
  for (const ExpectedRank& e : job.timeline().expected) {
    if (e.attempt != job.attempt() || wait.has(e.rank)) continue;
    if (!is_absent(job.rank(e.rank), surely_missing, wait)) continue;
    absent.push_back(e.rank);
    all_may_come = all_may_come && (!surely_missing || may_come(job, e, wait));
    const std::string why = why_absent(job, e, wait);
    f.evidence.push_back(fmt::format("rank {} {}", e.rank, why));
    reasons += fmt::format("{}rank {} {}", reasons.empty() ? "" : "; ", e.rank, why);
  }
  if (absent.empty() || (all_may_come && wait.longest <= options.hung_after)) return {};
  f.kind = "init_stall";
  f.attempt = job.attempt();
  f.ranks = sorted_unique(absent);
  f.op = op_text(wait.of_nccl ? RF_OP_COMM_CREATE : RF_OP_INIT);
  f.sides = {{sorted_unique(wait.ranks), f.op, f.op, ""}, {f.ranks, "", "no call", ""}};
  f.at = wait.since;
  const bool one = wait.ranks.size() == 1;
  f.text =
      fmt::format("{} in {}: {}",
                  wait.over ? fmt::format("{} gave up", ranks_text(f.sides.front().ranks))
                  : one     ? "a rank waits"
                            : "ranks wait",
                  wait.of_nccl ? "the initialisation of a communicator of NCCL" : "initialisation", reasons);
  return {f};
}

std::vector<Finding> of_ranks_elsewhere(const JobView& job, const Meeting& meeting,
                                        const DiagnoseOptions& options) {
  const std::optional<LateToJoin> late = late_to_join(job, meeting, options);
  if (!late || !late->hung) return {};  // slow_rank reports ranks that may come
  Finding f;
  f.kind = "init_stall";
  describe_late_to_join(f, job, meeting, *late, options);
  std::vector<int> others;
  for (const Process* p : late->ranks) others.push_back(p->rank());
  const std::string who =
      late->all_are_missing(meeting)
          ? fmt::format("{} {}", ranks_text(f.ranks), f.ranks.size() == 1 ? "has" : "have")
          : fmt::format("{} of {} has", meeting.missing(), ranks_text(sorted_unique(std::move(others))));
  f.text = fmt::format("{} in {}: of {} members {} not joined, {}",
                       meeting.waiting.size() == 1 ? "a rank waits" : "ranks wait",
                       meeting.numbered ? fmt::format("new_group {}", meeting.id)
                                        : "the initialisation of a communicator of NCCL",
                       meeting.members, who, late->patience.text());
  return {f};
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  const Wait wait = waits(job);
  std::vector<Finding> found = of_absent_ranks(job, wait, options);
  if (!found.empty() || !wait.of_nccl) return found;
  for (const Meeting& meeting : meetings(job))  // of NCCL, and of PyTorch
    for (Finding& f : of_ranks_elsewhere(job, meeting, options)) found.push_back(std::move(f));
  return found;
}

const Registration<Rule> kRule{{
    .name = "init_stall",
    .summary = "ranks wait in initialisation for ranks that did not join",
    .look = look,
    .proof = "Never proven: a rank may still come.",
    .example = "ranks wait in initialisation: rank 2 was never started",
    .next = "Check the launcher: number of processes, rank numbers, master address and port, and the log of "
            "the rank that is missing.",
    .traits = {.precedence = 80, .rank_may_come = true, .says_it_hangs = true},
}};

}  // namespace
}  // namespace rankfault
