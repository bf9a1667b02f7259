// NodeFaults: the part of a plan that acts on the ranks of one node. Its guardian has the whole plan and
// answers the gates of its ranks by itself: a node that is cut off cannot ask the tool.
//
// Threads: belongs to the guardian's loop.
#pragma once

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/base/rank_end.h"
#include "harness/inject/control_page.h"
#include "harness/inject/doorbell.h"
#include "harness/inject/injector.h"
#include "harness/inject/undo_list.h"

namespace rankfault {

class NodeFaults {
 public:
  // `plan`: as in plan.json. `root`: the parent of all tasks of the node; nothing but its descendants is
  // acted on. Makes DIR/control, which the agents of the node map.
  static Result<std::unique_ptr<NodeFaults>> arm(const std::string& dir, const std::string& plan, int root,
                                                 Journal&);

  void add_polls(std::vector<pollfd>& polls) const { polls.push_back({doorbell_.fd(), POLLIN, 0}); }
  void serve();
  void finish() { injector_.finish(); }  // no rank is left
  void process_ended(const RankEnd& end) { injector_.process_ended(end.process, end.time); }

 private:
  NodeFaults(Plan, ControlPage, UndoList, int root, Journal&);
  Plan plan_;
  ControlPage page_;
  UndoList undo_;
  Injector injector_;
  Doorbell doorbell_;
};

}  // namespace rankfault
