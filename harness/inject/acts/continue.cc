// continue: lets a stopped victim go on, `delay` after the act that stopped it.
#include <fmt/format.h>
#include <signal.h>

#include "harness/inject/awaited_effects.h"

namespace rankfault {
namespace {

std::string words(const Action& action) { return fmt::format("SIGCONT {} later", to_text(action.delay)); }

Result<std::string> perform(ActContext& act) {
  act.intend(fmt::format("SIGCONT to pid {}", act.process.pid));
  Result<std::string> sent = act.send_signal(act.process, SIGCONT);
  if (sent) await_continue(act);
  return sent;
}

const Registration<ExternalAct> kRegistration{{
    .name = "continue",
    .when = ActTime::kLater,
    .words = words,
    .perform = perform,
}};

}  // namespace
}  // namespace rankfault
