#include "faults/shm_segments.h"

#include <fmt/format.h>

#include "faults/lowering.h"

namespace rankfault {
namespace {

Result<std::string> pattern_of(const FaultSpec& fault) {
  const Value* written = fault.params.find("path");
  const std::string path = written ? written->text : fault.at.path;
  if (path.empty())
    return usage_error(fmt::format("{} needs \"path\": a pattern that names the segments", fault.kind),
                       fault.pos);
  if (path.rfind("/dev/shm/", 0) != 0 || path.find("/..") != std::string::npos)
    return usage_error(
        "\"path\" must begin with /dev/shm/ and must not contain \"/..\": the fault touches only segments",
        written ? written->pos : fault.at.pos);
  return path;
}

}  // namespace

Result<std::vector<Action>> harm_segments(const FaultSpec& fault, const LowerContext& context,
                                          const char* act, int64_t size, int mode) {
  const Result<std::string> path = pattern_of(fault);
  if (!path) return path.error();
  return for_each_victim(fault, context, [&](Action& action) {
    action.verb = RF_VERB_OUTSIDE;
    action.outside = act;
    action.path = *path;
    if (!action.at.file_op.empty() && action.at.path.empty()) action.at.path = *path;
    action.size = size;
    action.mode = mode;
  });
}

ParamSpec segments_parameter() {
  return {
      "path", ParamType::kText, false,
      "Which segments, as a pattern below /dev/shm/; the trigger's path when not given. Only the job's own "
      "are touched."};
}

}  // namespace rankfault
