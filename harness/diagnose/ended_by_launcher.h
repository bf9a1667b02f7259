// ended_by_launcher: ranks that their launcher ended because another rank had ended badly. They are its
// victims: what others needed of them is not what went wrong.
#pragma once

#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

// Whether it called MPI_Abort, and not after its end was seen. Its launcher may then end it by a signal.
bool aborted(const Process&);

class LauncherEnds {
 public:
  explicit LauncherEnds(const JobView&);

  // The rank that aborted or ended first, where this one was ended after it by a signal that launchers send;
  // null: this one ended by itself, or before any other, or its launcher leaves the others alone. Of two that
  // signals ended within 5 ms nobody knows which one was first: null for both.
  const Process* first_before(const Process&) const;
  // SIGKILL ended it, and a call of another rank that ended before it had failed at about that time. Either
  // this one's death failed that call, or the launcher ended this one afterwards.
  bool is_unclear(const Process&) const;

 private:
  struct Cause {
    const Process* process;
    TimeNs at;               // of its abort, or of its end
    TimeNs explained_until;  // a death that is seen before this time may be why it ended; 0: none may
    bool by_itself;          // else a signal ended it that a launcher may have sent
  };
  static bool may_follow(const Cause&, const Process&);  // the process may have ended first
  std::vector<Cause> causes_;  // in order of time; none where the launcher leaves the others alone
};

}  // namespace rankfault
