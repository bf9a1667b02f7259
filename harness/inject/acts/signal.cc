// signal: sends `signal` to the victim.
#include <fmt/format.h>
#include <signal.h>

#include "harness/inject/awaited_effects.h"
#include "harness/scenario/params.h"

namespace rankfault {
namespace {

std::string words(const Action& action) { return signal_name(action.signal); }

Result<std::string> perform(ActContext& act) {
  const int signal = act.action->signal;
  act.intend(fmt::format("{} to pid {}", signal_name(signal), act.process.pid));
  Result<std::string> sent = act.send_last_signal(act.process, signal);
  if (sent && signal == SIGSTOP) await_stop(act);
  act.victim_is_killed = signal == SIGKILL;
  return sent;
}

const Registration<ExternalAct> kRegistration{{
    .name = "signal",
    .may_end_a_process = true,
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
