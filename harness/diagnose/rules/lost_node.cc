// lost_node: a node of the job does not answer the tool any more: the node ended, or the network to it is
// cut. It is inferred, because the ranks there may still run.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/waits/waits.h"

namespace rankfault {
namespace {

struct LostNode {
  std::vector<const Process*> processes;  // that had not ended when the node was last heard
  std::vector<WaitEdge> edges;            // ranks of other nodes that wait for them
  Instant since = kEndOfTime;
};

bool is_unheard(const Process& p) { return is_known(p.view->unheard_since) && !p.ended(); }

// The calls that ranks of other nodes are in, and of which the process is a member. It may have entered them
// after its node was last heard.
std::vector<WaitEdge> calls_that_include(const JobView& job, const Process& process) {
  std::vector<WaitEdge> edges;
  for (const auto& [wait, me] : waits_beside(job, process))
    if (!is_unheard(*wait->waiter->process))
      edges.push_back(wait->edge_to(*me, me->entered(wait->place->seq)));
  for (const WaitEdge& e : job.waits().messages)
    if (e.missing && e.missing->process == &process && e.waiter->process && !is_unheard(*e.waiter->process))
      edges.push_back(e);
  return edges;
}

std::map<std::string, LostNode> lost_nodes(const JobView& job) {
  std::map<std::string, LostNode> lost;
  for (const auto& p : job.processes()) {
    if (p->rank() < 0 || !is_unheard(*p)) continue;
    LostNode& node = lost[p->view->node];
    node.processes.push_back(p.get());
    node.since = std::min(node.since, p->view->unheard_since);
    for (const WaitEdge& e : calls_that_include(job, *p)) node.edges.push_back(e);
  }
  return lost;
}

Finding tell(const JobView& job, const std::string& name, const LostNode& node) {
  Finding f;
  f.kind = "lost_node";
  f.attempt = job.attempt();
  f.at = node.since;
  f.clock = NodeClock{};  // the tool itself noticed it
  for (const Process* p : node.processes) f.ranks.push_back(p->rank());
  std::sort(f.ranks.begin(), f.ranks.end());
  const Duration silent = lasted(node.since, job.timeline().look);
  f.text = fmt::format("node {} does not answer: {} {} on it", name, ranks_text(f.ranks),
                       f.ranks.size() == 1 ? "is" : "are");
  f.evidence.push_back(fmt::format("node {} was last heard {:.1f} s before this look", name,
                                   std::chrono::duration<double>(silent).count()));
  f.assumes = {{"node_is_lost", false, "the node may run, and only the network to it be cut"}};
  if (node.edges.empty()) {
    f.text += "; rankfault saw no rank of another node in a call with it";
    return f;
  }
  describe_waiters(f, job, node.edges);
  std::vector<int> waiters;
  for (const WaitEdge& e : node.edges) waiters.push_back(e.waiter->world_rank);
  waiters = sorted_unique(waiters);
  f.text += fmt::format("; {} {} in {}", ranks_text(waiters), waiters.size() == 1 ? "is" : "are",
                        short_call(*node.edges.front().call, *node.edges.front().group));
  return f;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  // Whatever became of the guardian there: all tasks of the job ended with 0.
  if (job.timeline().job_status == JobStatus::kAllZero) return found;
  for (const auto& [name, node] : lost_nodes(job)) found.push_back(tell(job, name, node));
  return found;
}

const Registration<Rule> kRule{{
    .name = "lost_node",
    .summary = "a node of the job does not answer, and its ranks with it",
    .look = look,
    .proof = "Never proven: a node that is cut off looks like a node that ended.",
    .example = "node n2 does not answer: rank 2 is on it; ranks 0 1 3 are in all_reduce 41 on world",
    .next = "Look at the node: its power, its cable, its daemon (`scontrol show node`). Ranks of a node that "
            "is only "
            "cut off still run, and its own guardian ends nothing while they do.",
    .traits = {.precedence = 10},
}};

}  // namespace
}  // namespace rankfault
