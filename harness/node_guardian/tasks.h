// Tasks: the node guardian's connections with the tasks of its node (task_environment.h).
//
// Threads: belongs to the guardian's loop.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/unique_fd.h"
#include "harness/nodes/node_messages.h"

namespace rankfault {

struct TaskNews {
  TaskMessage task;
  int wait_status = 0;  // when it has ended
};

class Tasks {
 public:
  static Result<Tasks> listen(const std::string& dir);

  void add_polls(std::vector<pollfd>&) const;
  // The begins and the ends since the last call.
  std::vector<TaskNews> take();
  // The tool knows of all ends so far, or cannot be reached: those tasks may end.
  void answer();
  bool none_left() const { return connections_.empty(); }
  bool any_waits() const;  // for the answer
  bool all_wait() const;   // and there are some

 private:
  explicit Tasks(UniqueFd socket) : socket_(std::move(socket)) {}
  struct Connected {
    UniqueFd fd;
    bool waits = false;  // for the answer
  };
  bool read(Connected&, std::vector<TaskNews>&);

  UniqueFd socket_;
  std::vector<Connected> connections_;
};

}  // namespace rankfault
