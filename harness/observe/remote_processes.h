// RemoteProcesses: processes of a job on other hosts. Their flight records here are copies, which a guardian
// on their node sends; what /proc says there comes with them. harness/nodes has the connections.
#pragma once

#include <string>

#include "harness/observe/timeline.h"

namespace rankfault {

class RemoteProcesses {
 public:
  virtual ~RemoteProcesses() = default;
  // Brings the copies up to date. It returns within a bounded time: the copies of a node that does not answer
  // stay as they are.
  virtual void renew() = 0;
  // False for a process of this host. Else it fills `node`, `clock_error`, `unheard_since` and what /proc
  // says on the node; `stable` becomes false if the copy may mix two states.
  virtual bool describe(ProcessView&) const = 0;
  // The text of its /proc/PID/maps, in a file.
  virtual std::string maps_of(const ProcessId&) const = 0;
};

}  // namespace rankfault
