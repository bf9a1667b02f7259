#include "harness/diagnose/waits/deadlock.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "harness/diagnose/timing/wait_thresholds.h"

namespace rankfault {
namespace {

using Stuck = std::set<const Process*>;

// What one request waits for: a message, as edges; or a place, with the members that have not come to it.
struct Request {
  std::vector<WaitEdge> edges;
  const PlaceWait* at_place = nullptr;

  bool one_of() const { return !at_place && edges.front().one_of; }
};

// One call that a lane is in, and the requests that hold it.
struct Held {
  const Call* call = nullptr;
  std::map<const Call*, Request> requests;
};
using Graph = std::map<const Process*, std::vector<Held>>;

using Lanes = std::set<std::pair<const Process*, uint32_t>>;

struct Limits {
  DiagnoseOptions options;
  Lanes waiting;             // lanes in a call that needs another rank to come
  bool plain_sends = false;  // count standard sends that the library may hold back
};

// Servers often have a thread that always waits for requests. While another thread of the process runs, or is
// in a call that may return, only a long wait counts.
bool runs_besides(const Process& p, const Call& held, const Lanes& waiting) {
  return std::any_of(p.view->lanes.begin(), p.view->lanes.end(), [&](const LaneView& l) {
    if (l.index == held.lane || l.kind != RF_LANE_THREAD) return false;
    return l.state.where == RF_OUTSIDE || (l.state.where == RF_INSIDE && !waiting.count({&p, l.index}));
  });
}

bool lane_is_held(const Process& p, const Call* held, const Limits& limits, Instant look) {
  return held &&
         !(runs_besides(p, *held, limits.waiting) && lasted(held->entered, look) < limits.options.hung_after);
}

// A library that buffers a message copies it and returns. So a rank that had a core for this long and is
// still in its send waits. Another thread of the receiver may still come to receive: for such a process only
// a long wait counts.
bool is_held_back(const WaitEdge& e, const Limits& limits, Instant look) {
  constexpr Duration kToStart = 250ms;
  constexpr uint64_t kCopiedInAMicrosecond = 100;  // bytes, including the page faults of the copy
  const ProcessView& p = *e.waiter->process->view;
  if (p.stopped) return false;
  const Duration to_copy = std::chrono::microseconds(e.call->bytes() / kCopiedInAMicrosecond);
  const Duration floor =
      p.thread_multiple ? limits.options.slow_after : std::min(limits.options.slow_after, kToStart + to_copy);
  return lasted(std::max(e.held->entered, p.measured_since), look) >
         while_starved(patience_with_sends(*e.group, floor).limit, limits.options.hung_after, p.starved);
}

bool blocks(const WaitEdge& e, const Limits& limits, Instant look) {
  if (!e.missing->process || e.entered != Known::kNo) return false;
  if (!lane_is_held(*e.waiter->process, e.held, limits, look)) return false;
  if (e.is_need || e.one_of) return true;
  return limits.plain_sends && e.call->op() == RF_OP_SEND && is_held_back(e, limits, look);
}

// dead_rank and exited_rank report the calls that an ended process did not make.
bool blocks(const PlaceWait& w, const Member& m, Known entered) {
  return &m != w.waiter && entered == Known::kNo && w.needs_member(m) && !m.process->ended();
}

// Returns the calls that may still be served: at least one possible partner is not known to be missing.
std::set<const Call*> maybe_served(const std::vector<WaitEdge>& waits) {
  std::set<const Call*> calls;
  for (const WaitEdge& e : waits)
    if (e.one_of && (e.entered != Known::kNo || !e.missing->process)) calls.insert(e.call);
  return calls;
}

Lanes waiting_lanes(const Waits& waits) {
  Lanes lanes;
  for (const PlaceWait& w : waits.collective)
    if (w.held && std::any_of(w.place->missing.begin(), w.place->missing.end(),
                              [&](const auto& m) { return blocks(w, *m.first, m.second); }))
      lanes.insert({w.waiter->process, w.held->lane});
  const std::set<const Call*> served = maybe_served(waits.messages);
  for (const WaitEdge& e : waits.messages)
    if (e.held && e.entered == Known::kNo && (e.is_need || e.one_of) && !served.count(e.call))
      lanes.insert({e.waiter->process, e.held->lane});
  return lanes;
}

// The waits that may hold their ranks.
struct Holding {
  std::vector<const PlaceWait*> places;
  std::vector<const WaitEdge*> messages;
};

Holding holding_waits(const JobView& job, const Limits& limits) {
  const Waits& waits = job.waits();
  const Instant look = job.timeline().look;
  Holding holding;
  for (const PlaceWait& w : waits.collective)
    if (!w.place->group->revoked && lane_is_held(*w.waiter->process, w.held, limits, look) &&
        std::any_of(w.place->missing.begin(), w.place->missing.end(),
                    [&](const auto& m) { return blocks(w, *m.first, m.second); }))
      holding.places.push_back(&w);
  const std::set<const Call*> served = maybe_served(waits.messages);
  for (const WaitEdge& e : waits.messages)
    if (!e.group->revoked && !served.count(e.call) && blocks(e, limits, look) &&
        (e.one_of || !e.missing->process->ended()))
      holding.messages.push_back(&e);
  return holding;
}

// Returns the greatest set of processes in which each waits for a process of the set: it contains all that
// cannot continue. If there is no circle of waits the set is empty, and the edges of a large job are never
// listed.
Stuck suspects(const Holding& holding) {
  Stuck in;
  for (const PlaceWait* w : holding.places) in.insert(w->waiter->process);
  for (const WaitEdge* e : holding.messages) in.insert(e->waiter->process);
  for (size_t before = in.size() + 1; before != in.size();) {
    before = in.size();
    std::map<const Place*, std::vector<const Member*>>
        still;  // the missing members that are in the set; two are enough
    const auto in_set = [&](const PlaceWait& w) {
      const auto [at, fresh] = still.try_emplace(w.place);
      if (fresh)
        for (const auto& [m, entered] : w.place->missing)
          if (entered == Known::kNo && in.count(m->process)) at->second.push_back(m);
      return std::any_of(at->second.begin(), at->second.end(),
                         [&](const Member* m) { return blocks(w, *m, Known::kNo); });
    };
    Stuck kept;
    for (const PlaceWait* w : holding.places)
      if (in.count(w->waiter->process) && !kept.count(w->waiter->process) && in_set(*w))
        kept.insert(w->waiter->process);
    for (const WaitEdge* e : holding.messages)
      if (in.count(e->waiter->process) && in.count(e->missing->process)) kept.insert(e->waiter->process);
    in = std::move(kept);
  }
  return in;
}

Held& held_at(Graph& graph, const Process* process, const Call* call) {
  std::vector<Held>& all = graph[process];
  const auto at = std::find_if(all.begin(), all.end(), [&](const Held& h) { return h.call == call; });
  return at != all.end() ? *at : all.emplace_back(Held{call, {}});
}

Graph graph_of(const Holding& holding, const Stuck& in) {
  Graph graph;
  for (const PlaceWait* w : holding.places)
    if (in.count(w->waiter->process))
      held_at(graph, w->waiter->process, w->held).requests[w->call].at_place = w;
  for (const WaitEdge* e : holding.messages)
    if (in.count(e->waiter->process))
      held_at(graph, e->waiter->process, e->held).requests[e->call].edges.push_back(*e);
  return graph;
}

bool never_comes(const WaitEdge& e, const Stuck& stuck) {
  return stuck.count(e.missing->process) != 0 ||
         (e.one_of && end_of(*e.missing->process, *e.group).why != End::Why::kNotFinal);
}

// Returns the edges that hold a request forever if `stuck` are stuck; none if it may be served.
std::vector<WaitEdge> what_holds(const Request& request, const Stuck& stuck) {
  if (const PlaceWait* w = request.at_place) {
    for (const auto& [m, entered] : w->place->missing)
      if (blocks(*w, *m, entered) && stuck.count(m->process)) return {w->edge_to(*m, entered)};
    return {};
  }
  const std::vector<WaitEdge>& edges = request.edges;
  if (!request.one_of()) {
    for (const WaitEdge& e : edges)
      if (never_comes(e, stuck)) return {e};
    return {};
  }
  const bool all =
      std::all_of(edges.begin(), edges.end(), [&](const WaitEdge& e) { return never_comes(e, stuck); });
  const bool live = std::any_of(edges.begin(), edges.end(), [&](const WaitEdge& e) {
    return e.missing != e.waiter && stuck.count(e.missing->process) != 0;
  });
  return all && live ? edges : std::vector<WaitEdge>{};
}

std::vector<WaitEdge> what_holds(const Process& p, const Held& held, const Stuck& stuck) {
  if (held.call->op() != RF_OP_WAIT_ANY) {
    for (const auto& [call, request] : held.requests)
      if (std::vector<WaitEdge> edges = what_holds(request, stuck); !edges.empty()) return edges;
    return {};
  }
  const auto named = p.waits_for.find(held.call->lane);
  const size_t known = named == p.waits_for.end() ? 0 : named->second.size();
  if (known != held.call->pending_count() || known != held.requests.size()) return {};
  std::vector<WaitEdge> all;
  for (const auto& [call, request] : held.requests) {
    const std::vector<WaitEdge> edges = what_holds(request, stuck);
    if (edges.empty()) return {};
    all.insert(all.end(), edges.begin(), edges.end());
  }
  return all;
}

std::vector<WaitEdge> what_holds(const Graph& graph, const Process* p, const Stuck& stuck) {
  for (const Held& held : graph.at(p))
    if (std::vector<WaitEdge> edges = what_holds(*p, held, stuck); !edges.empty()) return edges;
  return {};
}

Stuck greatest_stuck_set(const Graph& graph) {
  Stuck stuck;
  for (const auto& [process, held] : graph) stuck.insert(process);
  for (size_t before = stuck.size() + 1; before != stuck.size();) {
    before = stuck.size();
    std::erase_if(stuck, [&](const Process* p) { return what_holds(graph, p, stuck).empty(); });
  }
  return stuck;
}

// Returns the edges of the shortest cycle of ANDs through `start`; empty if there is none.
std::vector<WaitEdge> cycle_through(const Graph& graph, const Process* start) {
  std::map<const Process*, WaitEdge> reached_by;
  std::set<const Place*> seen;
  std::deque<const Process*> todo{start};
  const auto follow = [&](const WaitEdge& e) {
    if (reached_by.try_emplace(e.missing->process, e).second && e.missing->process != start)
      todo.push_back(e.missing->process);
  };
  const auto follow_place = [&](const PlaceWait& w) {
    // At one place, all members that need all others reach the same members.
    const bool all_others =
        w.needs.who == Needs::Who::kOthers && w.waiter->entered(w.place->seq) == Known::kYes;
    if (all_others && !seen.insert(w.place).second) return;
    for (const auto& [m, entered] : w.place->missing)
      if (blocks(w, *m, entered) && graph.count(m->process)) follow(w.edge_to(*m, entered));
  };
  while (!todo.empty() && reached_by.count(start) == 0) {
    const auto at = graph.find(todo.front());
    todo.pop_front();
    if (at == graph.end()) continue;
    for (const Held& held : at->second)
      for (const auto& [call, request] : held.requests) {
        if (held.call->op() == RF_OP_WAIT_ANY) continue;
        if (request.at_place)
          follow_place(*request.at_place);
        else if (!request.one_of())
          for (const WaitEdge& e : request.edges) follow(e);
      }
  }
  std::vector<WaitEdge> cycle;
  for (auto at = reached_by.find(start); at != reached_by.end();
       at = reached_by.find(cycle.back().waiter->process)) {
    cycle.push_back(at->second);
    if (at->second.waiter->process == start) break;
  }
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

bool waits_for_itself(const Graph& graph) {
  for (const auto& [process, all] : graph)
    for (const Held& held : all)
      for (const auto& [call, request] : held.requests)
        for (const WaitEdge& e : request.edges)
          if (e.missing->process == process) return true;
  return false;
}

std::vector<WaitEdge> shortest_cycle(const JobView& job, const Graph& graph) {
  std::vector<WaitEdge> best;
  const size_t least = waits_for_itself(graph) ? 1 : 2;
  for (const auto& p : job.processes()) {
    if (graph.find(p.get()) == graph.end()) continue;
    std::vector<WaitEdge> cycle = cycle_through(graph, p.get());
    if (!cycle.empty() && (best.empty() || cycle.size() < best.size())) best = std::move(cycle);
    if (!best.empty() && best.size() <= least) break;
  }
  return best;
}

// Returns the edges that hold the first stuck rank, then those that hold the ranks it waits for, and so on.
std::vector<WaitEdge> explain_knot(const JobView& job, const Graph& graph, const Stuck& stuck) {
  std::vector<WaitEdge> edges;
  std::deque<const Process*> todo;
  Stuck seen;
  for (const auto& p : job.processes())
    if (todo.empty() && stuck.count(p.get())) todo.push_back(p.get());
  while (!todo.empty()) {
    const Process* p = todo.front();
    todo.pop_front();
    if (!stuck.count(p) || !seen.insert(p).second) continue;
    for (WaitEdge e : what_holds(graph, p, stuck)) {
      todo.push_back(e.missing->process);
      e.is_need = e.is_need || e.one_of;  // together with all other partners that could serve it
      edges.push_back(e);
    }
  }
  return edges;
}

Knot knot_in(const JobView& job, const Limits& limits) {
  Knot knot;
  const Holding holding = holding_waits(job, limits);
  const Graph graph = graph_of(holding, suspects(holding));
  if (graph.empty()) return knot;
  knot.edges = shortest_cycle(job, graph);
  const Stuck stuck = knot.edges.empty() ? greatest_stuck_set(graph) : Stuck{};
  if (!stuck.empty()) knot.edges = explain_knot(job, graph, stuck);
  if (knot.edges.empty()) return knot;
  for (const PlaceWait* w : holding.places) knot.waiters.emplace_back(w->place->group, w->waiter);
  for (const WaitEdge* e : holding.messages) knot.waiters.emplace_back(e->group, e->waiter);
  return knot;
}

}  // namespace

Knot find_knot(const JobView& job, const DiagnoseOptions& options) {
  Limits limits{options, waiting_lanes(job.waits()), false};
  Knot knot = knot_in(job, limits);
  if (!knot.edges.empty()) return knot;
  limits.plain_sends = true;
  return knot_in(job, limits);
}

}  // namespace rankfault
