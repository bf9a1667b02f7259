// proc: see proc.h.
#include "harness/observe/proc.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "harness/base/process_tree.h"

namespace rankfault {
namespace {

char thread_state(int pid, uint64_t tid) {
  std::FILE* file = std::fopen(fmt::format("/proc/{}/task/{}/stat", pid, tid).c_str(), "re");
  if (!file) return 0;
  char text[512];
  const size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = 0;
  const char* after_name = std::strrchr(text, ')');
  return after_name && after_name[1] == ' ' ? after_name[2] : 0;
}

}  // namespace

void read_proc_states(ProcessView& view) {
  const auto stat = proc_stat(view.id.pid);
  if (!stat || stat->start != view.id.start) return;
  view.stopped = stat->state == 'T';
  for (LaneView& lane : view.lanes)
    if (lane.kind == RF_LANE_THREAD) lane.thread_state = thread_state(view.id.pid, lane.owner);
}

}  // namespace rankfault
