// late: see late.h.
#include "harness/diagnose/late.h"

#include "harness/diagnose/messages.h"

namespace rankfault {
namespace {

bool sleeps(const Process& p) {
  bool any = false;
  for (const LaneView& l : p.view->lanes) {
    if (l.kind != RF_LANE_THREAD || l.state.where == RF_ENDED || l.thread_state == 0) continue;
    if (l.thread_state != 'S' && l.thread_state != 'D') return false;
    any = true;
  }
  return any;
}

}  // namespace

std::vector<Late> late_ranks(const JobView& job, Duration limit) {
  std::vector<Late> found;
  for (const auto& p : job.processes()) {
    if (p->ended() || p->view->stopped || p->has_streams() || !p->all_inside().empty()) continue;
    Late late{p.get(), waiting_for(job, *p), {}, sleeps(*p)};
    // Work that overlaps with pending calls keeps nobody waiting.
    std::erase_if(late.edges, [](const WaitEdge& e) {
      return !e.held && (e.group->library == RF_LIB_MPI || is_message(e.call->op()));
    });
    std::erase_if(late.edges,
                  [&](const WaitEdge& e) { return end_of(*p, *e.group).why != End::Why::kNotFinal; });
    late.waited = longest_wait(job, late.edges);
    if (!late.edges.empty() && late.waited > limit) found.push_back(std::move(late));
  }
  return found;
}

}  // namespace rankfault
