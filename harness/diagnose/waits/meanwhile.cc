// meanwhile: what a late rank did while the others waited; see gave_up.h.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/diagnose/model/end_times.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/waits/gave_up.h"

namespace rankfault {
namespace {

std::string in_run(const JobView& job, Instant time) { return to_text(lasted(job.timeline().begin, time)); }

// For each stop between two times, names the first and the last look that saw it; a stop that still lasts has
// no end.
std::string stops_text(const JobView& job, const Process& p, Instant from, Instant to) {
  std::string out;
  for (const Stop& s : p.view->stops) {
    if (s.last_seen < from || s.first_seen > to + kSeenLate) continue;
    const bool lasts = p.view->stopped && &s == &p.view->stops.back();
    out += fmt::format("{}{} {}", out.empty() ? "was stopped (state T) " : " and ", lasts ? "since" : "from",
                       in_run(job, s.first_seen));
    if (!lasts) out += fmt::format(" to {}", in_run(job, s.last_seen));
  }
  return out.empty() ? out : out + " of the run";
}

const Call* inner_at(const Process& p, Instant at) {
  for (const Call& c : p.calls)
    if (c.traits().is_of_files && c.entered <= at && (c.open() || c.left > at)) return &c;
  return nullptr;
}

// The threads that make the program's calls on the communicator. A library may have threads of its own that
// make other calls, such as PyTorch's monitors.
std::set<uint32_t> lanes_on(const JobView& job, const Process& p, const CommGroup& group) {
  std::set<uint32_t> lanes;
  for (const Call& c : p.calls)
    if (job.group(p, c.comm()) == &group) lanes.insert(c.lane);
  return lanes;
}

const Call* last_left(const JobView& job, const Process& p, const CommGroup& group, Instant at) {
  const std::set<uint32_t> lanes = lanes_on(job, p, group);
  const Call* last = nullptr;
  for (const Call& c : p.calls)
    if (!rf_is_inner(c.op()) && !(c.flags() & RF_CALL_EXECUTION) && is_known(c.left) && c.left <= at &&
        (lanes.empty() || lanes.count(c.lane)) && (!last || c.left > last->left))
      last = &c;
  return last;
}

std::string place_text(const JobView& job, const Process& p, const CommGroup& of, Instant at) {
  if (const Call* c = inner_at(p, at)) {
    const auto path = p.view->name_at.find(static_cast<uint32_t>(c->seq));
    return fmt::format("was in {}{}", op_text(c->op()),
                       path == p.view->name_at.end() || path->second.empty() ? "" : " of " + path->second);
  }
  const Call* last = last_left(job, p, of, at);
  if (!last) return "had made no call";
  const CommGroup* group = job.group(p, last->comm());
  const std::string site = call_site_of(p, *last);
  return fmt::format("had been outside every call since it left {}{}",
                     group ? short_call(*last, *group) : op_text(last->op()),
                     site.empty() ? "" : " at " + site);
}

std::string afterwards(const GivenUp& g, const Member& m) {
  if (const Call* own = m.at(g.seq); own && own->entered > g.at)
    return fmt::format("; it entered the call {} later", to_text(lasted(g.at, own->entered)));
  if (m.process->ended())
    return fmt::format("; it never entered the call, and {}", end_text(m.process->view->end));
  return "";
}

}  // namespace

std::string meanwhile(const JobView& job, const GivenUp& g, const Member& late) {
  const Process& p = *late.process;
  const std::string stops = stops_text(job, p, g.by.front().call->entered, g.at);
  return fmt::format("rank {} {}{}{}{}", late.world_rank, stops, stops.empty() ? "" : ", and ",
                     place_text(job, p, *g.group, g.at), afterwards(g, late));
}

}  // namespace rankfault
