// ended_by_launcher: finds ranks that the launcher ended because another rank had ended badly. They are
// victims: calls that they did not enter are not the cause.
#pragma once

#include <string>
#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault {

// Whether the process called MPI_Abort before its end was seen. Its launcher may then end it by a signal.
bool aborted(const Process&);

class LauncherEnds {
 public:
  explicit LauncherEnds(const JobView&);

  // Returns the rank that aborted or ended first, if a signal that launchers send ended this process after
  // it. Returns null if this process ended by itself or before any other, or if its launcher does not end the
  // others. If signals ended two processes within 5 ms, their order is unknown, and both get null.
  const Process* first_before(const Process&) const;
  // Returns why a signal may have come from the launcher although first_before() does not say so; "" if it
  // did not. SIGKILL ended the process, and at about that time a call had failed in another rank that ended
  // earlier: either this death caused the failure, or the launcher ended this process afterwards. Or the
  // clocks of two nodes do not tell which process ended first.
  std::string why_unclear(const Process&) const;

 private:
  struct Cause {
    const Process* process;
    Instant at;               // time of its abort, or of its end
    Instant explained_until;  // its end may be the effect of a death that is seen before this time
    bool by_itself;           // else a signal ended it that a launcher may have sent
  };
  static bool may_follow(const Cause&, const Process&);  // the cause may be an effect of this process's end
  static bool may_cause(const Cause&, const Process&);
  std::vector<Cause> causes_;  // in order of time; empty if the launcher does not end the others
};

}  // namespace rankfault
