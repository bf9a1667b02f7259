// torchrun_nodes: several torchruns on this machine, each with its own share of the ranks, as on as many
// hosts.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/unique_fd.h"
#include "harness/launch/launcher.h"

namespace rankfault {

// True if one of the arguments names one of these options, with dashes or underscores.
bool mentions(const std::vector<std::string>& args, std::initializer_list<const char*> options);

// Where the nodes meet: a port of this machine. While `held` lives, the kernel gives the port to no process
// that asks for any free port.
struct MeetingPlace {
  int port = 0;  // 0 in a plan: it is chosen later
  std::shared_ptr<UniqueFd> held;
};
Result<MeetingPlace> meeting_place();

// An error of the scenario: options that the nodes' launcher decides itself, or that would make attempts
// unknown.
Status check_node_arguments(const Workload&);
// The options of one node. The scenario's own come last, so that they take precedence.
std::vector<std::string> node_words(const Workload&, const MeetingPlace&, int node,
                                    const std::string& log_dir);
// The rank to which an output file belongs changes with each rendezvous; the ranks' flight records name it.
Status collect_node_logs(const LaunchContext&, const std::string& log_dir);

}  // namespace rankfault
