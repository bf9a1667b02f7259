// node_setup: opens the tool's side of a job of several nodes before its launcher starts.
#pragma once

#include <memory>
#include <string>

#include "harness/launch/node_channel.h"
#include "harness/nodes/remote_nodes.h"
#include "harness/plan/plan.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

struct NodeSetup {
  std::unique_ptr<RemoteNodes> nodes;
  NodeChannel channel;
};

// `where`: the interface, address or host name at which the nodes reach the tool; "": $RANKFAULT_LISTEN, else
// this host's own name.
Result<NodeSetup> open_nodes(const Plan&, const RunDir&, Journal&, const std::string& where);

}  // namespace rankfault
