// RemoteNodes: the tool's side of the nodes of a job. It listens for their guardians, keeps the copies of
// their flight records, and learns from them how the processes there end. One per run of several hosts.
//
// A node that sends nothing for kSilent is silent: it is down, its guardian ended, or the network is cut.
// From then on the tool does not know what the ranks of the node do, and the diagnosis proves nothing with
// them. A silent node may send again.
//
// Threads: belongs to the run's loop.
#pragma once

#include <poll.h>

#include <list>
#include <string>
#include <vector>

#include "harness/journal/journal.h"
#include "harness/nodes/listener.h"
#include "harness/nodes/remote_node.h"
#include "harness/observe/remote_processes.h"

namespace rankfault {

class RemoteNodes final : public RemoteProcesses {
 public:
  // `records`: the folder of the run's flight records, in which the copies are made. `plan`: what the
  // guardians do to their ranks, as in plan.json; "": nothing.
  RemoteNodes(Listener listener, std::string records, std::string plan, Journal& journal)
      : listener_(std::move(listener)),
        records_(std::move(records)),
        plan_(std::move(plan)),
        journal_(journal) {}

  const Listener& listener() const { return listener_; }
  const std::list<RemoteNode>& nodes() const { return nodes_; }
  void add_polls(std::vector<pollfd>&) const;
  // Takes what has come and sends what is due; never waits.
  void serve(Instant now);
  // The ends that were reported since the last call, on the tool's clock. They are journaled.
  std::vector<RankEnd> take_ends();
  // True once after a node fell silent or came back: the job must be looked at.
  bool take_news() { return std::exchange(news_, false); }
  // Tells the guardians that the job is over, and waits until they have closed their connections, for `limit`
  // at most. A guardian leaves the tasks of its node alone.
  void quit(Duration limit);

  void renew() override;
  bool describe(ProcessView&) const override;
  std::string maps_of(const ProcessId&) const override;

 private:
  void serve(RemoteNode&, Instant now);
  void note_hello(std::list<RemoteNode>::iterator);
  void note_silence(RemoteNode&, Instant now);
  const RemoteNode* node_of(const ProcessId&) const;
  void poll_for(Duration);
  void take_lines(RemoteNode&);

  Listener listener_;
  std::string records_, plan_;
  Journal& journal_;
  std::list<RemoteNode> nodes_, new_;  // new_: have not said hello
  uint64_t asked_ = 0;                 // the number of the newest question
  bool news_ = false;
};

}  // namespace rankfault
