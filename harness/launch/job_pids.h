// JobPids: which pids the processes of the job had on this host, and when. The kernel reuses a pid after its
// process has ended, so the pid alone identifies no process.
#pragma once

#include <cstdint>
#include <map>

namespace rankfault {

class JobPids {
 public:
  struct Life {                 // seconds of CLOCK_REALTIME, as the kernel stamps System V objects
    int64_t from = 0;           // it existed at this time
    int64_t until = INT64_MAX;  // its end; the largest number: no end was reported
  };

  // A process of the job that has this pid in our pid namespace. `start`: field 22 of /proc/PID/stat. False:
  // it is already known.
  bool add(int pid, uint64_t start);
  bool add(int pid, uint64_t start, Life);
  void ended(int pid, uint64_t start);  // now, or a moment ago; adds the process when it is not known

  // Whether the pid was one of the job's at that second. If the process has no reported end, /proc tells
  // whether it still exists, or when another process took its pid.
  bool was_there(int pid, int64_t second) const;

 private:
  std::map<int, std::map<uint64_t, Life>> lives_;  // by pid, by start
};

}  // namespace rankfault
