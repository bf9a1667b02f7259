// sysv_objects: System V segments, semaphore sets and message queues of this host, and which of them a job
// left behind.
//
// The kernel keeps the maker of a segment. Of the other two it keeps who used them last, so that one that the
// job made and never used cannot be told from one of a neighbour.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/launch/job_pids.h"

namespace rankfault {

enum class SysvKind { kSegment, kSemaphores, kQueue };

struct SysvObject {
  SysvKind kind = SysvKind::kSegment;
  int id = 0;
  unsigned key = 0;
  unsigned owner = 0;   // user who made it
  int64_t changed = 0;  // seconds of CLOCK_REALTIME: made, or given other rights
  int maker = 0;        // pid; segments only
  struct Use {
    int pid = 0;
    int64_t at = 0;  // seconds of CLOCK_REALTIME; of a semaphore: when its set was used last
  };
  std::vector<Use> users;  // the last ones
  bool lives = false;      // its maker, or one who used it last, is still there
};

struct SysvObjects {
  bool known = false;  // the kernel lists them
  std::vector<SysvObject> all;
};

SysvObjects sysv_objects();
// The segments alone, and not whether anybody lives: one small read.
std::vector<SysvObject> sysv_segments();
// The rows of one file of /proc/sysvipc, its title line included.
std::vector<SysvObject> read_sysv_table(SysvKind, const std::string& text);
std::string to_text(const SysvObject&);  // "System V segment 17 (key 0x0) of process 4711"

struct SysvLeft {
  std::vector<SysvObject> of_the_job;  // a process of the job made it, or used it last, and lived then
  std::vector<SysvObject> unclear;     // of the same user and made meanwhile, by a process that is not known
};
// `before`: what was there before the job.
SysvLeft sysv_left(const SysvObjects& before, const SysvObjects& after, const JobPids&, unsigned user);

bool is_among(const std::vector<SysvObject>&, const SysvObject&);
// A segment of that user whose maker was a process of the job when it was made.
bool may_be_removed(const SysvObject&, const JobPids&, unsigned user);

}  // namespace rankfault
