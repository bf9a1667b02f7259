// sysv_objects: System V segments, semaphore sets and message queues of this host, and which of them a job
// left behind.
//
// The kernel keeps the maker of a segment. For the other two it keeps only the last users, so an object that
// the job made but never used cannot be distinguished from one of another job.
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
  int64_t changed = 0;  // seconds of CLOCK_REALTIME: made, or its permissions changed
  int maker = 0;        // pid; segments only
  struct Use {
    int pid = 0;
    int64_t at = 0;  // seconds of CLOCK_REALTIME; of a semaphore: when its set was used last
  };
  std::vector<Use> users;  // the last ones
  bool lives = false;      // its maker, or one of its last users, still exists
};

struct SysvObjects {
  bool known = false;  // the kernel lists them
  std::vector<SysvObject> all;
};

SysvObjects sysv_objects();
// The segments alone, without checking which processes live: one small read.
std::vector<SysvObject> sysv_segments();
// The rows of one file of /proc/sysvipc, which begins with a title line.
std::vector<SysvObject> read_sysv_table(SysvKind, const std::string& text);
std::string to_text(const SysvObject&);  // "System V segment 17 (key 0x0) of process 4711"

struct SysvLeft {
  std::vector<SysvObject> of_the_job;  // a process of the job that lived at that time made it or used it last
  std::vector<SysvObject> unclear;     // of the same user, made meanwhile by an unknown process
};
// `before`: the objects that existed before the job.
SysvLeft sysv_left(const SysvObjects& before, const SysvObjects& after, const JobPids&, unsigned user);

bool is_among(const std::vector<SysvObject>&, const SysvObject&);
// A segment of that user whose maker was a process of the job when it made the segment.
bool may_be_removed(const SysvObject&, const JobPids&, unsigned user);

}  // namespace rankfault
