// host_resource: the host refused a file, a shared-memory segment or a descriptor to a rank, or it no longer
// existed.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "harness/agent/named_calls.h"
#include "harness/diagnose/model/made.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

bool is_exhausted(int error) {
  return error == ENOSPC || error == EMFILE || error == ENFILE || error == ENOMEM || error == EDQUOT ||
         error == EIO;
}

// A missing or forbidden segment is a fault only if the job itself had created it: programs probe for
// segments.
bool is_lost(int error) { return error == ENOENT || error == EACCES || error == EINVAL; }

const std::string* path_of(const Process& p, const Call& c) {
  const auto at = p.view->name_at.find(static_cast<uint32_t>(c.seq));
  return at == p.view->name_at.end() || at->second.empty() ? nullptr : &at->second;
}

// The segment name of shm_open ("/x") and its file ("/dev/shm/x") mean the same segment.
std::string file_of(const std::string& path, uint16_t op) {
  const bool shm_name = op >= RF_OP_SHM_CREATE && op <= RF_OP_SHM_UNLINK && path.rfind("/dev/shm/", 0) != 0;
  if (!shm_name) return path;
  return "/dev/shm/" + (path.rfind('/', 0) == 0 ? path.substr(1) : path);
}

// Returns when the process entered the last communication call that it had left by then; else when its record
// begins.
Instant last_call_before(const Process& p, Instant at) {
  const Call* last = nullptr;
  for (const Call& c : p.calls)
    if (!rf_is_inner(c.op()) && !rf_is_named(c.op()) && is_known(c.left) && c.left <= at &&
        (!last || c.left > last->left))
      last = &c;
  return last ? last->entered : p.view->opened;
}

struct Met {
  std::set<int> ranks;
  Instant at = kEndOfTime, since = kEndOfTime;
  uint16_t op = 0;
};

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::set<std::string> made;
  std::map<std::pair<std::string, int>, Met> refused;
  std::vector<const Process*> of_libc;
  for (const auto& p : job.processes())
    if (made_calls_of(*p, &LibraryTraits::is_of_files)) of_libc.push_back(p.get());
  for (const Process* p : of_libc)
    for (const Call& c : p->calls)
      if (const std::string* path = c.traits().is_of_files ? path_of(*p, c) : nullptr;
          path && c.op() == RF_OP_SHM_CREATE && c.succeeded())
        made.insert(file_of(*path, c.op()));
  for (const Process* p : of_libc)
    for (const Call& c : p->calls) {
      const std::string* path = c.traits().is_of_files ? path_of(*p, c) : nullptr;
      if (!path || c.status != Call::Status::kFailed || c.op() == RF_OP_SHM_UNLINK ||
          c.op() == RF_OP_FILE_UNLINK)
        continue;
      const std::string file = file_of(*path, c.op());
      const int error = std::abs(c.result());
      if (!is_exhausted(error) && !(is_lost(error) && made.count(file))) continue;
      Met& met = refused[{file, error}];
      if (met.ranks.insert(p->rank()).second)
        met.since = std::min(met.since, last_call_before(*p, c.entered));
      met.at = std::min(met.at, c.entered);
      met.op = c.op();
    }
  std::vector<Finding> found;
  for (const auto& [key, met] : refused) {
    Finding f;
    f.kind = "host_resource";
    f.ranks.assign(met.ranks.begin(), met.ranks.end());
    f.attempt = job.attempt();
    f.op = op_text(met.op);
    f.resource = key.first;
    f.field = strerrorname_np(key.second) ? strerrorname_np(key.second) : std::to_string(key.second);
    f.at = met.at;
    f.since = met.since;
    f.text = fmt::format("{} of {} failed on {}: {} ({})", f.op, key.first, ranks_text(f.ranks),
                         strerrordesc_np(key.second) ? strerrordesc_np(key.second) : "error", f.field);
    f.evidence = {f.text};
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{
    .name = "host_resource",
    .summary = "the system refused a file, segment or descriptor, or it was gone",
    .look = look,
    .proof = "Never proven. The record has the path, the errno and the ranks that got it.",
    .example = "/dev/shm: no space left on device, for ranks 0 1",
    .next = "Free or raise the resource that `resource` names: /dev/shm, the disk, `ulimit -n`, memory.",
    .traits = {.precedence = 10},
}};

}  // namespace
}  // namespace rankfault
