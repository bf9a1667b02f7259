// stuck_outside: a rank that others wait for has long been asleep outside communication: in a file, a lock, a
// pipe. It is inferred, because the rank may wake.
#include <fmt/format.h>

#include <optional>

#include "harness/diagnose/messages/messages.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/waits/late_ranks.h"
#include "harness/diagnose/waits/streams.h"

namespace rankfault {
namespace {

std::string reason(const RanksBehind& late) {
  const bool one = late.ranks.size() == 1;
  const std::string who = ranks_text({late.ranks.begin(), late.ranks.end()});
  const std::string call = short_call(*late.call, *late.group);
  switch (late.why) {
    case RanksBehind::Why::kNotEnqueued:
      return fmt::format("{} did not enter {} and {} for no rank", who, call, one ? "waits" : "wait");
    case RanksBehind::Why::kNotStarted:
      return fmt::format("{} of {} has not begun, but it runs on other ranks", call, who);
    case RanksBehind::Why::kNotCompleted:
      return fmt::format("{} of {} stays unfinished, but other ranks completed it", call, who);
    case RanksBehind::Why::kNoRecord:
      return fmt::format("{} has no record, and all other ranks entered {}", who, call);
    default:
      return fmt::format("{} did not enter {}; every awaited rank waits itself", who, call);
  }
}

// If fewer ranks completed the work than have it unfinished, they may not have taken part in it: a call that
// is left out below a recorder looks like this.
std::string other_reading(const RanksBehind& late) {
  if (late.completed_it.empty() || late.completed_it.size() >= late.device_stuck.size()) return "";
  return fmt::format("; or {}, the only {} that completed them, did not take part in them",
                     ranks_text({late.completed_it.begin(), late.completed_it.end()}),
                     late.completed_it.size() == 1 ? "one" : "ones");
}

// Uses the stream data of a recorder inside the processes. It does not show what else a process did.
std::optional<Finding> of_streams(const JobView& job) {
  const RanksBehind late = ranks_behind(job);
  if (late.ranks.empty()) return std::nullopt;
  Finding f;
  f.kind = "stuck_outside";
  f.ranks.assign(late.ranks.begin(), late.ranks.end());
  f.attempt = job.attempt();
  f.at = late.call->entered;
  f.op = op_text(late.call->op());
  set_comm(f, *late.group);
  set_seq(f, *late.call);
  std::vector<MemberCall> member_calls;
  for (const Member& m : late.group->members)
    if (m.comm) {
      const Call* c = m.at(late.call->seq);
      if (c || late.ranks.count(m.world_rank))
        member_calls.push_back({&m, is_message(late.call->op()) ? nullptr : c});
    }
  f.sides = sides_of(member_calls, *late.group);
  for (const Side& s : f.sides) f.evidence.push_back(fmt::format("{}: {}", ranks_text(s.ranks), s.what));
  f.text = reason(late);
  if (!late.device_stuck.empty() && late.why != RanksBehind::Why::kNotCompleted)
    f.text += fmt::format(
        "; operations of {} that other ranks completed stay unfinished there, so the device is stuck",
        ranks_text({late.device_stuck.begin(), late.device_stuck.end()}));
  f.text += other_reading(late);
  f.evidence.emplace_back("the records have no time; if the job still ran, these ranks were only behind");
  return f;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  for (const LateRank& late : late_ranks(job, options)) {
    if (late.hung && late.why != LateRank::Why::kWaits)
      found.push_back(late_finding(job, late, "stuck_outside"));
  }
  if (std::optional<Finding> f = of_streams(job)) found.push_back(std::move(*f));
  return found;
}

const Registration<Rule> kRule{{
    .name = "stuck_outside",
    .summary = "a rank sleeps outside communication while others wait",
    .look = look,
    .proof = "Never proven: what the rank waits for may come.",
    .example = "rank 1 sleeps in read() outside any call while ranks 0 2 3 wait in all_reduce 8",
    .next = "Read the rank's stack: a lock, a full file system, a network file, a data loader that does not "
            "answer.",
    .traits = {.rank_may_come = true, .says_it_hangs = true},
}};

}  // namespace
}  // namespace rankfault
