// ended_by_launcher: ranks that their launcher ended because another rank had ended badly. They are its
// victims: what others needed of them is not what went wrong.
#pragma once

#include <vector>

#include "harness/diagnose/view.h"

namespace rankfault {

// When the process began to end: at its abort, or else at its end. Launchers end the other ranks first.
TimeNs began_to_end(const Process&);

class LauncherEnds {
 public:
  explicit LauncherEnds(const JobView&);

  // The rank that aborted or ended first, where this one was ended after it by a signal that launchers send;
  // null: this one ended by itself, or before any other, or its launcher leaves the others alone. Of two that
  // signals ended within 5 ms nobody knows which one was first: null for both.
  const Process* first_before(const Process&) const;

 private:
  struct Cause {
    const Process* process;
    TimeNs at;       // of its abort, or of its end
    bool by_itself;  // else a signal ended it that a launcher may have sent
  };
  std::vector<Cause> causes_;  // in order of time; none where the launcher leaves the others alone
};

}  // namespace rankfault
