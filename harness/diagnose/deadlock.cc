// deadlock: see deadlock.h.
#include "harness/diagnose/deadlock.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "harness/diagnose/patience.h"

namespace rankfault {
namespace {

using Stuck = std::set<const Process*>;

// One call that a lane sits in, and the waits that hold it: of each request its own.
struct Held {
  const Call* call = nullptr;
  std::map<const Call*, std::vector<WaitEdge>> requests;
};
using Graph = std::map<const Process*, std::vector<Held>>;

// A thread of its own that always waits for requests is how servers are made: while another one of the
// process runs, it is only a long wait that tells.
bool runs_besides(const Process& p, const Call& held) {
  return std::any_of(p.view->lanes.begin(), p.view->lanes.end(), [&](const LaneView& l) {
    return l.index != held.lane && l.kind == RF_LANE_THREAD && l.state.where == RF_OUTSIDE;
  });
}

struct Limits {
  DiagnoseOptions options;
  bool plain_sends = false;  // count sends that the library may have to hold back
};

bool holds(const WaitEdge& e, const Limits& limits, TimeNs look) {
  if (!e.missing->process || e.entered != Known::kNo || !e.held) return false;
  const Duration open = lasted(e.held->entered, look);
  if (runs_besides(*e.waiter->process, *e.held) && open < limits.options.hung_after) return false;
  if (e.is_need || e.one_of) return true;
  return limits.plain_sends && e.call->op == RF_OP_SEND && open > limits.options.slow_after &&
         open > patience_with_sends(*e.group, limits.options.slow_after).limit;
}

// Calls of which one that would do is not known to be missing: they may be served.
std::set<const Call*> maybe_served(const std::vector<WaitEdge>& waits) {
  std::set<const Call*> calls;
  for (const WaitEdge& e : waits)
    if (e.one_of && (e.entered != Known::kNo || !e.missing->process)) calls.insert(e.call);
  return calls;
}

Graph graph_of(const JobView& job, const std::vector<WaitEdge>& waits, const Limits& limits) {
  Graph graph;
  const std::set<const Call*> served = maybe_served(waits);
  for (const WaitEdge& e : waits) {
    if (served.count(e.call) || !holds(e, limits, job.timeline().look)) continue;
    if (!e.one_of && e.missing->process->ended()) continue;  // dead_rank and exited_rank tell that
    std::vector<Held>& all = graph[e.waiter->process];
    auto at = std::find_if(all.begin(), all.end(), [&](const Held& h) { return h.call == e.held; });
    if (at == all.end()) at = all.insert(all.end(), Held{e.held, {}});
    at->requests[e.call].push_back(e);
  }
  return graph;
}

bool never_comes(const WaitEdge& e, const Stuck& stuck) {
  return stuck.count(e.missing->process) != 0 ||
         (e.one_of && end_of(*e.missing->process, *e.group).why != End::Why::kNotFinal);
}

// The edges that hold a request for ever, given who is stuck; none when it may be served.
std::vector<WaitEdge> what_holds(const std::vector<WaitEdge>& request, const Stuck& stuck) {
  if (!request.front().one_of) {
    for (const WaitEdge& e : request)
      if (never_comes(e, stuck)) return {e};
    return {};
  }
  const bool all =
      std::all_of(request.begin(), request.end(), [&](const WaitEdge& e) { return never_comes(e, stuck); });
  const bool live = std::any_of(request.begin(), request.end(), [&](const WaitEdge& e) {
    return e.missing != e.waiter && stuck.count(e.missing->process) != 0;
  });
  return all && live ? request : std::vector<WaitEdge>{};
}

std::vector<WaitEdge> what_holds(const Process& p, const Held& held, const Stuck& stuck) {
  if (held.call->op != RF_OP_WAIT_ANY) {
    for (const auto& [call, request] : held.requests)
      if (std::vector<WaitEdge> edges = what_holds(request, stuck); !edges.empty()) return edges;
    return {};
  }
  const auto named = p.waits_for.find(held.call->lane);
  const size_t known = named == p.waits_for.end() ? 0 : named->second.size();
  if (known != held.call->pending_count || known != held.requests.size()) return {};
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

bool is_and(const Held& held, const WaitEdge& e) { return !e.one_of && held.call->op != RF_OP_WAIT_ANY; }

// The shortest cycle of ANDs through `start`, as its edges; empty when there is none.
std::vector<WaitEdge> cycle_through(const Graph& graph, const Process* start) {
  std::map<const Process*, WaitEdge> reached_by;
  std::deque<const Process*> todo{start};
  const auto follow = [&](const WaitEdge& e) {
    if (reached_by.try_emplace(e.missing->process, e).second && e.missing->process != start)
      todo.push_back(e.missing->process);
  };
  while (!todo.empty() && reached_by.count(start) == 0) {
    const auto at = graph.find(todo.front());
    todo.pop_front();
    if (at == graph.end()) continue;
    for (const Held& held : at->second)
      for (const auto& [call, request] : held.requests)
        for (const WaitEdge& e : request)
          if (is_and(held, e)) follow(e);
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

std::vector<WaitEdge> shortest_cycle(const JobView& job, const Graph& graph) {
  std::vector<WaitEdge> best;
  for (const auto& p : job.processes()) {
    if (graph.find(p.get()) == graph.end()) continue;
    std::vector<WaitEdge> cycle = cycle_through(graph, p.get());
    if (!cycle.empty() && (best.empty() || cycle.size() < best.size())) best = std::move(cycle);
  }
  return best;
}

// What holds the first stuck rank, and those who hold it, and so on.
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
      e.is_need = e.is_need || e.one_of;  // with all the others that would do
      edges.push_back(e);
    }
  }
  return edges;
}

Knot knot_in(const JobView& job, const Graph& graph) {
  Knot knot;
  knot.edges = shortest_cycle(job, graph);
  const Stuck stuck = knot.edges.empty() ? greatest_stuck_set(graph) : Stuck{};
  if (!stuck.empty()) knot.edges = explain_knot(job, graph, stuck);
  if (knot.edges.empty()) return knot;
  for (const auto& [process, all] : graph)
    for (const Held& held : all)
      for (const auto& [call, request] : held.requests)
        knot.all.insert(knot.all.end(), request.begin(), request.end());
  return knot;
}

}  // namespace

Knot find_knot(const JobView& job, const DiagnoseOptions& options) {
  const std::vector<WaitEdge>& waits = waits_now(job);
  Knot knot = knot_in(job, graph_of(job, waits, {options, false}));
  return knot.edges.empty() ? knot_in(job, graph_of(job, waits, {options, true})) : knot;
}

}  // namespace rankfault
