// NodeChannel: how a task on another node finds the tool. A launcher passes it on in the environment
// (harness/launch/task_environment.h).
#pragma once

#include <string>

namespace rankfault {

struct NodeChannel {
  std::string dir;   // of each node, in a file system of its own: "/tmp/rankfault-node-1f.."
  std::string host;  // where the tool listens
  int port = 0;
  std::string key;  // of the run, in hex: for the environment alone
};

}  // namespace rankfault
