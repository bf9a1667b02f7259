// limit, unlimit: the victim's soft limit of `mode` (RLIMIT_*) becomes its current use plus `size`; unlimit
// restores it, `delay` later.
#include <fmt/format.h>
#include <sys/resource.h>

#include "harness/inject/act_context.h"
#include "harness/inject/limits.h"

namespace rankfault {
namespace {

struct Limits : ActState {
  std::map<std::pair<ProcessId, int>, SetLimit> set;  // by process and resource
};

const char* resource_word(int resource) { return resource == RLIMIT_NOFILE ? "descriptors" : "memory"; }

std::string limit_words(const Action& action) {
  return fmt::format("limit its {} to the amount in use plus {}", resource_word(action.mode), action.size);
}

std::string unlimit_words(const Action& action) {
  return fmt::format("restore its {} {} later", resource_word(action.mode), to_text(action.delay));
}

void intend(const ActContext& act) {
  const Action& action = *act.action;
  act.intend(fmt::format("{} {} of pid {}", action.outside, resource_name(action.mode), act.process.pid));
}

// The limit belongs to the process and ends with it: the end of the run has nothing to undo.
Result<std::string> limit(ActContext& act) {
  intend(act);
  const int resource = act.action->mode, pid = act.process.pid;
  if (const Status ours = act.is_ours(act.process); !ours) return ours.error();
  auto& limits = act.run->state<Limits>().set;
  if (limits.count({act.process, resource}))
    return refused(fmt::format("{} of pid {} is limited already", resource_name(resource), pid));
  const Result<SetLimit> set = limit_to_use(pid, resource, static_cast<uint64_t>(act.action->size));
  if (!set) return set.error();
  limits[{act.process, resource}] = *set;
  events::FaultEffect more;
  more.resource = resource_name(resource);
  more.in_use = set->in_use;
  more.limit = set->limit;
  more.before = limit_text(set->before);
  act.effect("limited", more);
  return fmt::format("{} of pid {} is {}", resource_name(resource), pid, set->limit);
}

Result<std::string> unlimit(ActContext& act) {
  intend(act);
  const int resource = act.action->mode, pid = act.process.pid;
  if (const Status ours = act.is_ours(act.process); !ours) return ours.error();
  auto& limits = act.run->state<Limits>().set;
  const auto found = limits.find({act.process, resource});
  if (found == limits.end()) return refused("nothing was limited");
  const SetLimit set = found->second;
  limits.erase(found);
  if (const Status restored = restore_limit(pid, resource, set); !restored) return restored.error();
  act.effect("unlimited");
  return fmt::format("{} of pid {} is {} again", resource_name(resource), pid, limit_text(set.before));
}

const Registration<ExternalAct> kLimit{{
    .name = "limit",
    .words = limit_words,
    .perform = limit,
}};

const Registration<ExternalAct> kUnlimit{{
    .name = "unlimit",
    .when = ActTime::kLater,
    .words = unlimit_words,
    .perform = unlimit,
}};

}  // namespace
}  // namespace rankfault
