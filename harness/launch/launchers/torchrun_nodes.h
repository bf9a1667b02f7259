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

// Does one of the arguments name one of these options, with dashes or underscores.
bool mentions(const std::vector<std::string>& args, std::initializer_list<const char*> options);

// Where the nodes meet: a port of this machine. While `held` lives it is given to nobody who asks for any
// port.
struct MeetingPlace {
  int port = 0;
  std::shared_ptr<UniqueFd> held;
};
Result<MeetingPlace> meeting_place();

// What the nodes' launcher decides itself, and what would make attempts unknown: an error of the scenario.
Status check_node_arguments(const Workload&);
// The options of one node: the scenario's own last, so that they are what counts.
std::vector<std::string> node_words(const Workload&, const MeetingPlace&, int node,
                                    const std::string& log_dir);
// Whose output a file is changes with each rendezvous: it is told by the ranks' flight records.
Status collect_node_logs(const LaunchContext&, const std::string& log_dir);

}  // namespace rankfault
