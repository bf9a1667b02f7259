// signal_helper: sends `signal` to the `size`th process, oldest first, that the victim started and whose name
// matches `path`.
#include <fmt/format.h>
#include <signal.h>

#include "harness/inject/awaited_effects.h"
#include "harness/inject/rank_children.h"
#include "harness/plan/describe_plan.h"
#include "harness/scenario/params.h"

namespace rankfault {
namespace {

std::string words(const Action& action) {
  return fmt::format("{} to its {} helper named {}", signal_name(action.signal), ordinal(action.size),
                     action.path);
}

// The helper descends from the victim now, and send_signal identifies it by pidfd and start time: no other
// process is signalled.
Result<std::string> perform(ActContext& act) {
  const Action& action = *act.action;
  act.intend(fmt::format("{} to a helper of pid {}", signal_name(action.signal), act.process.pid));
  const std::vector<ProcStat> helpers = helpers_of(act.process.pid, action.path);
  if (helpers.size() < static_cast<size_t>(action.size))
    return refused(
        fmt::format("pid {} has {} helpers named {}", act.process.pid, helpers.size(), action.path));
  const ProcStat& stat = helpers[static_cast<size_t>(action.size) - 1];
  ProcessId helper = act.process;
  helper.pid = stat.pid;
  helper.start = stat.start;
  Result<std::string> sent = act.send_signal(helper, action.signal);
  // No process outlives SIGKILL. A helper may handle another signal, so that watch ends.
  const Instant until = action.signal == SIGKILL ? kEndOfTime : HostClock::now() + kAwaitedFor;
  if (sent) await_end(act, helper, "helper", until);
  return sent;
}

const Registration<ExternalAct> kRegistration{{
    .name = "signal_helper",
    .may_end_a_process = true,
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
