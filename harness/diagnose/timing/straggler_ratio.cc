#include "harness/diagnose/timing/straggler_ratio.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankfault {
namespace {

constexpr size_t kMostCalls = 20, kLeastCalls = 5;
constexpr double kLeastRatio = 1.5;

// Returns the calls of the group that every member made and left with success, newest first.
std::vector<uint64_t> common_calls(const CommGroup& group) {
  std::vector<uint64_t> seqs;
  const std::vector<const Call*>& calls = group.members.front().calls;
  for (auto call = calls.rbegin(); call != calls.rend() && seqs.size() < kMostCalls; ++call) {
    const bool common = std::all_of(group.members.begin(), group.members.end(), [&](const Member& m) {
      const Call* own = m.process && m.comm ? m.at((*call)->seq) : nullptr;
      return own && own->succeeded() && !(own->flags() & RF_CALL_NONBLOCKING);
    });
    if (common) seqs.push_back((*call)->seq);
  }
  return seqs;
}

// Returns the time that the process spent before these calls, each counted from the end of the previous call.
Duration own_time(const Member& member, const std::vector<uint64_t>& seqs) {
  std::vector<Instant> ends;
  for (const Call& c : member.process->calls)
    if (!c.open() && !rf_is_inner(c.op())) ends.push_back(c.left);
  std::sort(ends.begin(), ends.end());
  Duration sum{};
  for (const uint64_t seq : seqs) {
    const Instant entered = member.at(seq)->entered;
    const auto after = std::upper_bound(ends.begin(), ends.end(), entered);
    if (after != ends.begin()) sum = std::min(sum + (entered - *std::prev(after)), kLongestDuration);
  }
  return sum;
}

}  // namespace

std::string straggler_text(const CommGroup& group, const Process& process) {
  if (group.members.size() < 2) return "";
  const std::vector<uint64_t> seqs = common_calls(group);
  if (seqs.size() < kLeastCalls) return "";
  Duration mine{};
  std::vector<Duration> others;
  for (const Member& m : group.members)
    (m.process == &process ? mine : others.emplace_back()) = own_time(m, seqs);
  const auto median = others.begin() + static_cast<ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), median, others.end());
  const double ratio =
      static_cast<double>(mine.count()) / static_cast<double>(std::max(*median, 1ns).count());
  if (ratio < kLeastRatio) return "";
  return fmt::format("; before their last {} calls there, it took {:.1f} times as long as the others",
                     seqs.size(), ratio);
}

}  // namespace rankfault
