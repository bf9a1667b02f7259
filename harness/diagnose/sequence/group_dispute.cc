#include "harness/diagnose/sequence/group_dispute.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/diagnose/model/numbered_groups.h"
#include "harness/diagnose/model/words.h"

namespace rankfault {
namespace {

std::string size_text(const MadeGroup& m) { return fmt::format("{} members", m.call->count()); }

// Equal groups from one place in the program are one side.
std::vector<Side> sides_of(const GroupDispute& dispute) {
  std::vector<Side> sides;
  for (const MadeGroup& m : dispute.made) {
    const Side side{{m.process->rank()},
                    op_text(m.call->op()),
                    fmt::format("new_group {} of {}", dispute.number, size_text(m)),
                    call_site_of(*m.process, *m.call)};
    const auto same = std::find_if(sides.begin(), sides.end(), [&](const Side& s) {
      return s.what == side.what && s.call_site == side.call_site;
    });
    if (same == sides.end())
      sides.push_back(side);
    else
      same->ranks.push_back(m.process->rank());
  }
  return sides;
}

std::vector<int> ranks_of(const std::vector<MadeGroup>& made) {
  std::vector<int> ranks;
  for (const MadeGroup& m : made) ranks.push_back(m.process->rank());
  return sorted_unique(std::move(ranks));
}

// "ranks 0 2 of 2 members, rank 1 of 3 members"; of equal sizes "ranks 1 2 are both its member 1".
std::string difference_text(const GroupDispute& dispute) {
  std::map<uint64_t, std::vector<MadeGroup>> sizes;
  std::map<int, std::vector<MadeGroup>> seats;
  for (const MadeGroup& m : dispute.made) {
    sizes[m.call->count()].push_back(m);
    seats[m.call->peer()].push_back(m);
  }
  std::vector<std::string> parts;
  for (const auto& [size, made] : sizes)
    if (sizes.size() > 1)
      parts.push_back(fmt::format("{} of {}", ranks_text(ranks_of(made)), size_text(made.front())));
  for (const auto& [seat, made] : seats)
    if (sizes.size() == 1 && ranks_of(made).size() > 1)
      parts.push_back(fmt::format("{} are {} its member {}", ranks_text(ranks_of(made)),
                                  ranks_of(made).size() == 2 ? "both" : "all", seat));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns the group with this number of another rank, if that rank makes the odd rank's group as a later one:
// the same size, from the same place in the program.
const MadeGroup* left_out(const GroupDispute& dispute, const MadeGroup& odd) {
  const std::string place = place_of(*odd.process, *odd.call);
  if (place.empty()) return nullptr;
  for (const MadeGroup& other : dispute.made) {
    if (other.call->count() == odd.call->count()) continue;
    for (const Call& c : other.process->calls)
      if (is_numbered_creation(c) && c.entered > other.call->entered && c.count() == odd.call->count() &&
          place_of(*other.process, c) == place)
        return &other;
  }
  return nullptr;
}

bool is_stuck(const MadeGroup& m, Instant look, Duration limit) {
  return m.call->status == Call::Status::kFailed || (m.call->open() && lasted(m.call->entered, look) > limit);
}

}  // namespace

std::optional<Finding> group_dispute(const JobView& job, const DiagnoseOptions& options) {
  const std::optional<GroupDispute> dispute = first_dispute(job);
  if (!dispute) return std::nullopt;
  const std::vector<MadeGroup>& made = dispute->made;
  const auto stuck = [&](const MadeGroup& m) { return is_stuck(m, job.timeline().look, options.slow_after); };
  if (std::none_of(made.begin(), made.end(), stuck)) return std::nullopt;
  const MadeGroup& shown = dispute->odd.empty() ? made.front() : dispute->odd.front();
  Finding f;
  f.kind = "call_mismatch";
  f.attempt = job.attempt();
  f.ranks = ranks_of(dispute->odd);
  f.field = "members";
  f.op = op_text(RF_OP_COMM_CREATE);
  f.comm = numbered_name(dispute->number);
  f.at = kEndOfTime;  // of the first of them: what the same ranks wait for later follows from it
  for (const MadeGroup& m : made) f.at = std::min(f.at, m.call->entered);
  f.call_site = call_site_of(*shown.process, *shown.call);
  f.sides = sides_of(*dispute);
  f.text = fmt::format("ranks make different groups as their new_group {}: {}", dispute->number,
                       difference_text(*dispute));
  if (const MadeGroup* other = dispute->odd.empty() ? nullptr : left_out(*dispute, shown)) {
    f.call_site = call_site_of(*other->process, *other->call);
    f.text += fmt::format("; {} left out the new_group of {} at {}", ranks_text(f.ranks), size_text(*other),
                          f.call_site);
  }
  f.evidence = {f.text,
                "all ranks must call new_group for each group in the same order, also for groups that "
                "they are not in"};
  return f;
}

}  // namespace rankfault
