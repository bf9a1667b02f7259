#include "faults/small_folder.h"

#include <fmt/format.h>

namespace rankfault {
namespace {

constexpr int64_t kPage = 4096;

}  // namespace

Result<Action> mount_small_folder(const FaultSpec& fault, const LowerContext& context,
                                  const std::string& path) {
  if (fault.at.pos.line != 0)
    return usage_error(
        fmt::format("{} has no trigger, because it is there before the job: leave \"at\" out", fault.kind),
        fault.at.pos);
  if (context.victims.size() != static_cast<size_t>(context.ranks))
    return usage_error(fmt::format("all ranks of a host share {}: write \"ranks: all\"",
                                   path == kShmFolder ? "its /dev/shm" : "that folder"),
                       fault.ranks.pos);
  const int64_t size = read_int(fault.params, "size", 16 * kPage);
  if (size < kPage)
    return usage_error("\"size\" must be at least a page, 4096", fault.params.find("size")->pos);
  Action action;
  action.outside = "mount";
  action.path = path;
  action.size = size;
  action.rank = context.victims.front();
  action.times = 0;
  action.ask = false;
  return action;
}

LineOf<events::Mounted> mounted_line(const RunFacts& facts, const std::string& fault) {
  return first_line<events::Mounted>(facts.journal,
                                     [&](const events::Mounted& line) { return line.fault == fault; });
}

}  // namespace rankfault
