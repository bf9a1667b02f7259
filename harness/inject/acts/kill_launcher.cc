// kill_launcher, kill_node: sends `signal` to the launcher program that started the victim; kill_node sends
// it to all processes that the launcher started, too.
#include <fmt/format.h>

#include "harness/inject/awaited_effects.h"
#include "harness/inject/node.h"
#include "harness/scenario/params.h"

namespace rankfault {
namespace {

std::string launcher_words(const Action& action) { return signal_name(action.signal) + " to its launcher"; }

std::string node_words(const Action& action) {
  return signal_name(action.signal) + " to its launcher and all that it started";
}

ProcessId id_of(const ActContext& act, const ProcStat& stat) {
  ProcessId id = act.process;
  id.image = 0;
  id.pid = stat.pid;
  id.start = stat.start;
  return id;
}

void intend(const ActContext& act) {
  act.intend(fmt::format("{} to the launcher of pid {}", signal_name(act.action->signal), act.process.pid));
}

Result<ProcStat> find_launcher(const ActContext& act) {
  const std::optional<ProcStat> launcher = launcher_of(act.process.pid, act.run->guardian_pid);
  if (!launcher) return refused(fmt::format("no launcher program started pid {}", act.process.pid));
  return *launcher;
}

Result<std::string> kill_launcher(ActContext& act) {
  intend(act);
  const Result<ProcStat> launcher = find_launcher(act);
  if (!launcher) return launcher.error();
  const ProcessId id = id_of(act, *launcher);
  Result<std::string> killed = act.send_signal(id, act.action->signal);
  if (killed) await_end(act, id, "launcher", kEndOfTime);
  return killed;
}

// Kills the launcher first, so that it cannot see its ranks die and report it.
Result<std::string> kill_node(ActContext& act) {
  intend(act);
  const Result<ProcStat> launcher = find_launcher(act);
  if (!launcher) return launcher.error();
  const std::vector<ProcStat> node = started_by(*launcher);
  const ProcessId id = id_of(act, *launcher);
  const Result<std::string> killed = act.send_last_signal(id, act.action->signal);
  if (!killed) return killed;
  await_end(act, id, "launcher", kEndOfTime);
  size_t others = 0;
  for (const ProcStat& stat : node)
    if (act.send_last_signal(id_of(act, stat), act.action->signal)) ++others;  // else it has ended meanwhile
  act.victim_is_killed = true;
  return fmt::format("{} and to the {} processes that it started", *killed, others);
}

const Registration<ExternalAct> kLauncher{{
    .name = "kill_launcher",
    .may_end_a_process = true,
    .words = launcher_words,
    .perform = kill_launcher,
}};

const Registration<ExternalAct> kNode{{
    .name = "kill_node",
    .may_end_a_process = true,
    .words = node_words,
    .perform = kill_node,
}};

}  // namespace
}  // namespace rankfault
