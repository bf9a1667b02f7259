// order_deadlock: live ranks entered two or more communicators in different order, and now wait for
// each other in a cycle of needs.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "harness/diagnose/rule.h"
#include "harness/diagnose/waits.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

using Graph = std::map<const Process*, std::vector<Edge>>;

Graph graph_of(const JobView& job) {
  Graph graph;
  for (const Edge& e : waits_now(job))
    if (e.is_need && e.entered == Known::kNo && e.call->open() && !e.missing->process->ended())
      graph[e.waiter->process].push_back(e);
  return graph;
}

// The shortest cycle through `start`, as its edges; empty when there is none.
std::vector<Edge> cycle_through(const Graph& graph, const Process* start) {
  std::map<const Process*, Edge> reached_by;
  std::deque<const Process*> todo{start};
  while (!todo.empty()) {
    const Process* at = todo.front();
    todo.pop_front();
    const auto edges = graph.find(at);
    if (edges == graph.end()) continue;
    for (const Edge& e : edges->second) {
      const Process* to = e.missing->process;
      if (!reached_by.try_emplace(to, e).second) continue;
      if (to != start) {
        todo.push_back(to);
        continue;
      }
      std::vector<Edge> cycle{e};
      while (cycle.back().waiter->process != start)
        cycle.push_back(reached_by.at(cycle.back().waiter->process));
      std::reverse(cycle.begin(), cycle.end());
      return cycle;
    }
  }
  return {};
}

std::vector<Edge> shortest_cycle(const JobView& job, const Graph& graph) {
  std::vector<Edge> best;
  for (const auto& p : job.processes()) {
    if (graph.find(p.get()) == graph.end()) continue;
    std::vector<Edge> cycle = cycle_through(graph, p.get());
    if (!cycle.empty() && (best.empty() || cycle.size() < best.size())) best = std::move(cycle);
  }
  return best;
}

// Everybody in the smaller of two camps; nobody when they are equal.
std::vector<int> smaller_side(const Graph& graph, const std::vector<Edge>& cycle) {
  std::map<const CommGroup*, std::vector<int>> camps;
  for (const auto& [process, edges] : graph)
    for (const Edge& e : edges) camps[e.group].push_back(process->rank());
  std::erase_if(camps, [&](const auto& camp) {
    return std::none_of(cycle.begin(), cycle.end(), [&](const Edge& e) { return e.group == camp.first; });
  });
  std::vector<std::vector<int>> sides;
  for (auto& [group, ranks] : camps) sides.push_back(sorted_unique(std::move(ranks)));
  if (sides.size() != 2 || sides[0].size() == sides[1].size()) return {};
  return sides[0].size() < sides[1].size() ? sides[0] : sides[1];
}

Finding tell(const JobView& job, const Graph& graph, const std::vector<Edge>& cycle) {
  Finding f;
  f.kind = "order_deadlock";
  f.attempt = job.attempt();
  f.ranks = smaller_side(graph, cycle);
  const Edge& first = cycle.front();
  f.op = op_text(first.call->op);
  set_comm(f, *first.group);
  f.seq = SeqRange{first.call->seq, first.call->seq};
  std::vector<End> ends;
  for (const Edge& e : cycle) {
    f.at = std::max(f.at, e.call->entered);
    f.sides.push_back({{e.waiter->world_rank},
                       op_text(e.call->op),
                       call_text(*e.call, *e.group),
                       call_site_of(*e.waiter->process, *e.call)});
    const std::string step = fmt::format("rank {} waits in {} for rank {}", e.waiter->world_rank,
                                         short_call(*e.call, *e.group), e.missing->world_rank);
    f.evidence.push_back(step);
    f.text += (f.text.empty() ? "" : ", ") + step;
    if (f.ends_by.empty()) f.ends_by = ends_by_of(*e.call, e.waiter->comm);
    ends.push_back({e.missing->process, e.group, End::Why::kInCycle});
  }
  prove(f, cycle, ends);
  return f;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  const Graph graph = graph_of(job);
  const std::vector<Edge> cycle = shortest_cycle(job, graph);
  if (cycle.empty()) return {};
  return {tell(job, graph, cycle)};
}

const Registration<Rule> kRule{{"order_deadlock", "live ranks wait for each other in a cycle", look}};

}  // namespace
}  // namespace rankfault
