#include "reports/html/wait_for.h"

#include <algorithm>
#include <map>

#include "reports/html/clock.h"

namespace rankfault::html {
namespace {

constexpr size_t kMostGroups = 24;

struct Node {
  std::vector<int> ranks;
  Stuck of_first;
  bool blamed = false;
};

bool same(const Finding& a, const Json& line) {
  return line.value("kind", "") == a.kind && line.value("ranks", std::vector<int>{}) == a.ranks &&
         line.value("attempt", 0) == a.attempt && !line.value("withdrawn", false);
}

// When the finding was made: its first line.
Instant made_at(const RunFacts& facts, const Finding& finding) {
  const auto line = first_line<events::Finding>(
      facts.journal, [&](const events::Finding& f) { return same(finding, f.finding); });
  return line ? line.t : facts.end;
}

// The ranks that wait for each other: what remains when ranks that wait for none of the others, or for which
// none of them waits, are taken away again and again.
std::set<int> in_cycle(const std::vector<Stuck>& ranks) {
  std::map<int, std::set<int>> needs;
  for (const Stuck& rank : ranks) needs[rank.rank] = rank.needs;
  for (bool again = true; again;) {
    again = false;
    std::set<int> needed;
    for (auto& [rank, others] : needs) {
      std::erase_if(others, [&](int other) { return needs.count(other) == 0; });
      needed.insert(others.begin(), others.end());
    }
    for (auto at = needs.begin(); at != needs.end();) {
      const bool loose = at->second.empty() || needed.count(at->first) == 0;
      again = again || loose;
      at = loose ? needs.erase(at) : std::next(at);
    }
  }
  std::set<int> out;
  for (const auto& [rank, others] : needs) out.insert(rank);
  return out;
}

// Without an edge from the records: the waiting side of the finding waits for the ranks that it blames.
bool take_sides(const Finding& finding, std::vector<Stuck>& ranks) {
  bool any = false;
  const auto blamed = [&](int rank) {
    return std::find(finding.ranks.begin(), finding.ranks.end(), rank) != finding.ranks.end();
  };
  for (const Side& side : finding.sides)
    for (const int rank : side.ranks)
      if (!side.op.empty() && !blamed(rank) && rank >= 0 && static_cast<size_t>(rank) < ranks.size()) {
        Stuck& stuck = ranks[static_cast<size_t>(rank)];
        stuck.state = "in " + side.what;
        stuck.site = side.call_site;
        stuck.op = side.what;
        stuck.needs.insert(finding.ranks.begin(), finding.ranks.end());
        any = any || !finding.ranks.empty();
      }
  return any;
}

// Ranks in one state, with the same needs, that the same ranks need. Then each rank of a group waits for each
// rank of the other one.
std::vector<Node> grouped(const std::vector<Stuck>& ranks, const Finding& finding,
                          const std::set<int>& cycle) {
  std::map<int, std::set<int>> needed_by;
  for (const Stuck& rank : ranks)
    for (const int other : rank.needs) needed_by[other].insert(rank.rank);
  std::vector<Node> nodes;
  std::map<std::tuple<std::string, std::set<int>, std::set<int>, bool, bool>, size_t> known;
  for (const Stuck& rank : ranks) {
    const bool blamed =
        std::find(finding.ranks.begin(), finding.ranks.end(), rank.rank) != finding.ranks.end();
    const auto [at, is_new] = known.try_emplace(
        {rank.state + rank.site, rank.needs, needed_by[rank.rank], blamed, cycle.count(rank.rank) != 0},
        nodes.size());
    if (is_new) nodes.push_back({{}, rank, blamed});
    nodes[at->second].ranks.push_back(rank.rank);
  }
  return nodes;
}

Json edges_of(const std::vector<Node>& nodes, std::vector<bool>& is_needed) {
  Json edges = Json::array();
  for (size_t from = 0; from < nodes.size(); ++from)
    for (size_t to = 0; to < nodes.size(); ++to) {
      const std::set<int>& needs = nodes[from].of_first.needs;
      const bool waits = std::any_of(nodes[to].ranks.begin(), nodes[to].ranks.end(),
                                     [&](int rank) { return needs.count(rank) != 0; });
      if (!waits) continue;
      is_needed[to] = true;
      edges.push_back({{"from", from}, {"to", to}, {"call", clean(nodes[from].of_first.op)}});
    }
  return edges;
}

}  // namespace

Json wait_for_graph(const RunFacts& facts, const Finding& finding, const CommNames& names) {
  const Instant until = made_at(facts, finding);
  std::vector<Stuck> ranks = stuck_ranks(facts, finding, until, names);
  const bool waits =
      std::any_of(ranks.begin(), ranks.end(), [](const Stuck& rank) { return !rank.needs.empty(); });
  if (!waits && !take_sides(finding, ranks)) return {};
  const std::set<int> cycle = in_cycle(ranks);
  std::vector<Node> nodes = grouped(ranks, finding, cycle);
  const size_t left_out = nodes.size() > kMostGroups ? nodes.size() - kMostGroups : 0;
  const auto weight = [](const Node& n) { return n.blamed ? 2 : n.of_first.needs.empty() ? 0 : 1; };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const Node& a, const Node& b) { return weight(a) > weight(b); });
  nodes.resize(nodes.size() - left_out);
  std::vector<bool> is_needed(nodes.size());
  Json edges = edges_of(nodes, is_needed);
  const Clock clock(facts);
  Json groups = Json::array();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    groups.push_back({{"ranks", node.ranks},
                      {"state", clean(node.of_first.state)},
                      {"site", clean(node.of_first.site)},
                      {"since", clock.json(node.of_first.since)},
                      {"blamed", node.blamed},
                      {"ended", node.of_first.ended},
                      {"cycle", cycle.count(node.ranks.front()) != 0},
                      {"sink", is_needed[i] && node.of_first.op.empty()}});
  }
  return {{"at", clock.json(until)},
          {"by_records", waits},
          {"groups", std::move(groups)},
          {"groups_left_out", left_out},
          {"edges", std::move(edges)}};
}

}  // namespace rankfault::html
