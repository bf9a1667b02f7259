// disk_full: a folder of the job is a small file system of its own. No other disk is filled.
//
// It has no gate: the guardian mounts the file system, in its own mount name space, before it starts the job.
#include <errno.h>
#include <fmt/format.h>
#include <limits.h>

#include <algorithm>
#include <cstring>

#include "faults/effect.h"
#include "faults/file_effect.h"
#include "faults/small_folder.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

Action watch(const Action& mount, const char* op) {
  Action action;
  action.rank = mount.rank;
  action.outside = "watch";
  action.at.file_op = op;
  action.at.path = "*/" + mount.path + "/*";
  return action;
}

// The calls that may take space are recorded, in every rank.
Result<std::vector<Action>> lower(const FaultSpec& fault, const LowerContext& context) {
  const std::string path = read_text(fault.params, "path");
  const auto odd = [](unsigned char c) { return c < 0x21 || c == 0x7f || std::strchr("/*?[\\", c); };
  if (path.empty() || path == "." || path == ".." || path.size() > NAME_MAX ||
      std::any_of(path.begin(), path.end(), odd))
    return usage_error(
        "\"path\" must be the name of a folder in the job's TMPDIR, without a slash or a pattern",
        fault.params.find("path")->pos);
  for (const FaultSpec& other : context.scenario.faults)
    if (&other != &fault && other.kind == fault.kind && other.id < fault.id &&
        read_text(other.params, "path") == path)
      return usage_error(
          fmt::format("folder \"{}\" is already small by fault \"{}\": name another folder", path, other.id),
          fault.params.find("path")->pos);
  Result<Action> mount = mount_small_folder(fault, context, path);
  if (!mount) return mount.error();
  std::vector<Action> out{*mount};
  for (const char* op : {"open", "write", "allocate"}) out.push_back(watch(*mount, op));
  return out;
}

// The first call of a process on a file in `folder` that got no space, or less than it asked for.
struct Refused {
  int rank = -1;
  Instant time;
  std::string what;
};

// How the call on a file got too little space; "": it did not.
std::string too_little(const RecordedCall& call, const std::string& path) {
  const char* const op = op_text(call.op());
  if (call.result() == ENOSPC) return fmt::format("{} of {} failed with ENOSPC", op, path);
  const bool is_short = call.op() == RF_OP_FILE_WRITE && call.left_with_success() && call.enter &&
                        call.leave->count < call.enter->count;
  return is_short ? fmt::format("{} of {} wrote only {} of {} bytes", op, path, call.leave->count,
                                call.enter->count)
                  : "";
}

void look_at(const RunFacts& facts, const ProcessView& process, const std::string& folder, Refused& first) {
  const CallHistory history(process);
  const auto on_folder = history.left([&](const RecordedCall& call) {
    const std::string* const path = history.path_of(call);
    return call.traits().is_of_files && call.leave->phase == RF_PHASE_EXIT && path &&
           path->starts_with(folder) && !ended_by_fail_call(facts, history, call);
  });
  for (const RecordedCall* call : on_folder) {
    if (is_known(first.time) && call->left() >= first.time) continue;
    if (std::string what = too_little(*call, *history.path_of(*call)); !what.empty())
      first = {process.rank, call->left(), std::move(what)};
  }
}

EffectReport verify(const FaultSpec& fault, const RunFacts& facts) {
  const auto mounted = mounted_line(facts, fault.id);
  if (!mounted) return {Effect::kNotFired, "no file system was mounted for the job", {}, {}};
  const std::string folder = mounted->path + "/";
  Refused first;
  for (const ProcessView& process : facts.timeline.processes) look_at(facts, process, folder, first);
  if (is_known(first.time))
    return verified(fmt::format("rank {}'s {}", first.rank, first.what), first.time, {mounted.n});
  return not_bitten(
      fmt::format("no recorded call ran out of space in the {} bytes of {}", mounted->bytes, folder),
      {mounted.n});
}

const Registration<FaultKind> kRegistration{{
    .name = "disk_full",
    .summary = "A folder in the job's TMPDIR is a separate file system of a few pages, in a mount namespace "
               "(needs root; otherwise skipped).",
    .stands_for = "a disk or a quota without room for another checkpoint",
    .not_the_same = "a disk that another user fills, or empties again; a file system that reports the lack "
                    "of space only when it is synchronised",
    .verified_by =
        "a recorded write, allocation or open in that folder failed with ENOSPC, or a write was short",
    .example = "disk_full@ranks=all,path=checkpoints,size=65536",
    .params = {{"path", ParamType::kText, true, "The folder: one name, in the job's TMPDIR."},
               {"size", ParamType::kInt, false, "Its size in bytes; 65536 when not given."}},
    .lower = lower,
    .verify = verify,
}};

}  // namespace
}  // namespace rankfault
