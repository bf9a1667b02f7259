#include "harness/evidence/gather.h"

#include <fmt/format.h>

#include "harness/base/command_line.h"
#include "harness/base/cpu_time.h"
#include "harness/base/process_tree.h"
#include "harness/evidence/native_stacks.h"
#include "harness/evidence/python_stacks.h"
#include "harness/evidence/sockets.h"
#include "harness/evidence/threads.h"

namespace rankfault {
namespace {

void add_frames(const NativeStacks& stacks, const MemoryMap& map, Places& places, RankEvidence& out) {
  out.no_stacks = stacks.why_not;
  for (ThreadEvidence& thread : out.threads) {
    const auto found = stacks.threads.find(thread.tid);
    if (found == stacks.threads.end()) continue;
    for (const RawFrame& raw : found->second) {
      const Mapping* mapping = map.find(raw.is_return_address ? raw.address - 1 : raw.address);
      if (!mapping) {
        thread.frames.push_back({"", "", fmt::format("0x{:x}", raw.address)});
        continue;
      }
      const CodePlace place = places.at(*mapping, raw.address, raw.is_return_address);
      thread.frames.push_back(
          {place.function, place.module, place.line.empty() ? place.in_module() : place.line});
    }
  }
}

bool is_still(int pid, uint64_t start) {
  const auto stat = proc_stat(pid);
  return stat && stat->start == start && stat->state != 'Z';
}

}  // namespace

Result<RankEvidence> gather(int pid, uint64_t start, int rank, Places& places, const GatherOptions& options) {
  if (!is_still(pid, start)) return refused(fmt::format("process {} has ended", pid));
  RankEvidence out;
  out.rank = rank;
  out.pid = pid;
  out.command = command_line(pid);
  out.cpu_time = cpu_time_with_helpers(pid);
  out.threads = threads_of(pid);
  MemoryMap map;
  map.read(pid);
  add_frames(native_stacks(pid, options.stacks), map, places, out);
  add_python(map, options.python, out);
  out.sockets = sockets_of(pid);
  if (!is_still(pid, start)) return refused(fmt::format("process {} ended during the look", pid));
  return out;
}

}  // namespace rankfault
