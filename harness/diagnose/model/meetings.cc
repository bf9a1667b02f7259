#include "harness/diagnose/model/meetings.h"

#include <algorithm>
#include <map>

#include "harness/diagnose/model/numbered_groups.h"
#include "harness/diagnose/model/words.h"

namespace rankfault {
namespace {

bool is_of(const CommGroup& group, const Meeting& meeting) {
  if (meeting.numbered) return group.traits().numbers_groups && group.name == numbered_name(meeting.id);
  return group.traits().meets_by_id && RF_TAG_OF_ID(group.id) == meeting.id;
}

bool has_seat(const Meeting& meeting, const Process& p) {
  for (const Joining& j : meeting.waiting)
    if (j.process == &p) return true;
  return std::any_of(p.seats.begin(), p.seats.end(),
                     [&](const auto& seat) { return is_of(*seat.first, meeting); });
}

}  // namespace

std::vector<int> Meeting::ranks() const {
  std::vector<int> all;
  for (const Joining& j : waiting) all.push_back(j.process->rank());
  return sorted_unique(std::move(all));
}

std::vector<Meeting> meetings(const JobView& job) {
  std::map<std::pair<bool, int>, Meeting> by_id;
  std::vector<Joining> all = joining_nccl(job);
  for (const Joining& j : joining_numbered(job)) all.push_back(j);
  for (const Joining& j : all) {
    if (j.gave_up || j.call->tag() == 0 || j.call->count() == 0) continue;
    const bool numbered = j.call->traits().numbers_groups;
    Meeting& meeting = by_id[{numbered, j.call->tag()}];
    meeting.numbered = numbered;
    meeting.since = meeting.waiting.empty() ? j.call->entered : std::min(meeting.since, j.call->entered);
    meeting.id = j.call->tag();
    meeting.members = std::max(meeting.members, j.call->count());
    meeting.waiting.push_back(j);
    if (j.call->peer() >= 0) meeting.seats.insert(j.call->peer());
  }
  const std::optional<GroupDispute> dispute = first_dispute(job);
  std::vector<Meeting> found;
  for (auto& [id, meeting] : by_id) {
    if (meeting.numbered && dispute && dispute->number == meeting.id) continue;
    for (const CommGroup& group : job.comms()) {
      if (!is_of(group, meeting)) continue;
      for (const Member& m : group.members)
        if (m.comm && !(meeting.numbered && m.comm->destroyed)) meeting.seats.insert(m.rank);
    }
    if (meeting.missing() != 0) found.push_back(std::move(meeting));
  }
  std::sort(found.begin(), found.end(), [](const Meeting& a, const Meeting& b) { return a.since < b.since; });
  return found;
}

std::vector<const Process*> elsewhere(const JobView& job, const Meeting& meeting) {
  std::vector<const Process*> found;
  for (const auto& p : job.processes())
    if (p->member() && job.rank(p->rank()) == p.get() && !has_seat(meeting, *p)) found.push_back(p.get());
  return found;
}

}  // namespace rankfault
