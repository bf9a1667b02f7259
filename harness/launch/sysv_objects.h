// sysv_objects: System V segments, semaphore sets and message queues of this host, and which of them a job
// left behind.
//
// The kernel keeps the maker of a segment. Of the other two it keeps who used them last, so that one that the
// job made and never used cannot be told from one of a neighbour.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace rankfault {

enum class SysvKind { kSegment, kSemaphores, kQueue };

struct SysvObject {
  SysvKind kind = SysvKind::kSegment;
  int id = 0;
  unsigned key = 0;
  unsigned owner = 0;      // user who made it
  long long changed = 0;   // seconds of CLOCK_REALTIME: made, or given other rights
  int maker = 0;           // pid; segments only
  std::vector<int> users;  // pids that used it last
  bool lives = false;      // its maker, or one who used it last, is still there
};

struct SysvObjects {
  bool known = false;  // the kernel lists them
  std::vector<SysvObject> all;
};

SysvObjects sysv_objects();
// The rows of one file of /proc/sysvipc, its title line included.
std::vector<SysvObject> read_sysv_table(SysvKind, const std::string& text);
std::string to_text(const SysvObject&);  // "System V segment 17 (key 0x0) of process 4711"

struct SysvLeft {
  std::vector<SysvObject> of_the_job;  // a process of the job made it, or used it last
  std::vector<SysvObject> unclear;     // of the same user and made meanwhile, by a process that is not known
};
// Pure. `pids`: the processes of the job.
SysvLeft sysv_left(const SysvObjects& before, const SysvObjects& after, const std::set<int>& pids,
                   unsigned user);

}  // namespace rankfault
