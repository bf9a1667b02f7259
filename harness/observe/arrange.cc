#include "harness/observe/arrange.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/observe/helpers.h"

namespace rankfault {
namespace {

bool took_part(const ProcessView& p) { return p.stage >= RF_STAGE_MEMBER; }

// A process that called exec continues as its next image. A wrapper that became the rank says nothing about
// it, nor does a program that the rank became when it was done. A rank that became another program in the
// middle ended at that time: what it knew of the library is gone.
void join_images(std::vector<ProcessView>& processes) {
  using Key = std::tuple<uint64_t, uint64_t, int, uint64_t>;
  std::map<Key, std::vector<ProcessView*>> images;
  for (ProcessView& p : processes) images[{p.id.host, p.id.pid_ns, p.id.pid, p.id.start}].push_back(&p);
  for (auto& [key, all] : images) {
    if (all.size() < 2) continue;
    std::sort(all.begin(), all.end(),
              [](const ProcessView* a, const ProcessView* b) { return a->id.image < b->id.image; });
    const bool any = std::any_of(all.begin(), all.end(), [](const ProcessView* p) { return took_part(*p); });
    for (size_t i = 0; i < all.size(); ++i) {
      ProcessView& p = *all[i];
      const bool newest = i + 1 == all.size();
      if (any ? !took_part(p) : !newest) p.rank = -1;
      if (newest || !took_part(p) || p.stage == RF_STAGE_FINALIZED) continue;
      p.end = {EndKind::kEnded, all[i + 1]->opened, true, false, 0, {}, true};
    }
  }
}

// The first attempt has as many ranks as the plan requested. A later attempt of an elastic job has as many as
// its ranks claim.
void take_world_size(Timeline& t) {
  int claimed = 0;
  for (const ProcessView& p : t.processes)
    if (p.attempt == t.attempt && !p.helper) claimed = std::max(claimed, p.world_size);
  t.world_size = t.attempt > 0 && claimed > 0 ? claimed : std::max(t.world_size, claimed);
  std::erase_if(t.expected,
                [&](const ExpectedRank& e) { return e.attempt == t.attempt && e.rank >= t.world_size; });
}

}  // namespace

void arrange(Timeline& t) {
  std::erase_if(t.processes, [](const ProcessView& p) { return p.rank < 0; });
  for (const ProcessView& p : t.processes) t.attempt = std::max(t.attempt, p.attempt);
  t.job_over = !t.processes.empty();
  for (const ProcessView& p : t.processes)
    if (p.attempt == t.attempt && p.end.kind == EndKind::kAlive) t.job_over = false;
  join_images(t.processes);
  std::erase_if(t.processes, [](const ProcessView& p) { return p.rank < 0; });
  mark_helpers(t.processes);
  std::sort(t.processes.begin(), t.processes.end(), [](const ProcessView& a, const ProcessView& b) {
    return std::tie(a.attempt, a.rank, a.id) < std::tie(b.attempt, b.rank, b.id);
  });
  take_world_size(t);
}

}  // namespace rankfault
