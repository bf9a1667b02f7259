#include "harness/inject/awaited_effects.h"

#include "harness/base/process_tree.h"
#include "harness/inject/rank_children.h"

namespace rankfault {
namespace {

// A look returns true when its wait is over.
struct AwaitedEffects : ActState {
  std::vector<std::function<bool(Instant now)>> looks;

  void tick(Instant now) override {
    std::erase_if(looks, [&](const auto& look) { return look(now); });
  }
};

bool is_stopped(const ActContext& act, bool wanted, Instant until, Instant now) {
  const auto stat = proc_stat(act.process.pid);
  const bool alive = stat && stat->start == act.process.start;
  const bool stopped = alive && (stat->state == 'T' || stat->state == 't');
  if (!alive || stopped != wanted) return !alive || now > until;
  act.effect(wanted ? "stopped" : "continued", {}, now);
  return true;
}

void await_state(const ActContext& act, bool stopped) {
  act.run->state<AwaitedEffects>().looks.emplace_back(
      [act, stopped, until = HostClock::now() + kAwaitedFor](Instant now) {
        return is_stopped(act, stopped, until, now);
      });
}

bool has_ended(const ActContext& act, const ProcessId& process, const std::string& whose, Instant until,
               Instant now) {
  const HelperEnd end = end_of_helper(process.pid, process.start, act.action->signal);
  if (end == HelperEnd::kLives && now <= until) return false;
  if (end == HelperEnd::kUnseen) return true;
  const char* how = end == HelperEnd::kBySignal    ? "_ended"
                    : end == HelperEnd::kOtherwise ? "_ended_otherwise"
                                                   : "_lives";
  events::FaultEffect more;
  (whose == "helper" ? more.helper : more.launcher) = process.to_string();
  act.effect(whose + how, more, now);
  return true;
}

}  // namespace

void await_stop(const ActContext& act) { await_state(act, true); }

void await_continue(const ActContext& act) { await_state(act, false); }

void await_end(const ActContext& act, const ProcessId& process, const char* whose, Instant until) {
  act.run->state<AwaitedEffects>().looks.emplace_back(
      [act, process, whose = std::string(whose), until](Instant now) {
        return has_ended(act, process, whose, until, now);
      });
}

}  // namespace rankfault
