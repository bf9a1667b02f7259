// injector: the harness's half of the gate.
#include "harness/inject/injector.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "harness/base/op_names.h"
#include "harness/base/process_tree.h"
#include "harness/inject/awaited_effects.h"

namespace rankfault {
namespace {

const char* effect_word(uint32_t effect) {
  switch (effect) {
    case RF_EFFECT_DONE:
      return "done";
    case RF_EFFECT_REFUSED:
      return "refused";
    case RF_EFFECT_ABANDONED:
      return "abandoned";
    case RF_EFFECT_UNABLE:
      return "unable";
    default:
      return "none";
  }
}

ProcessId process_of(const rf_gate_slot& slot) {
  ProcessId id;
  id.host = this_host();
  id.pid_ns = slot.pid_ns;
  id.pid = slot.pid;
  id.start = slot.start_time;
  id.image = slot.image;
  return id;
}

// The call of the thread at the gate.
events::FaultDone at_the_gate(const rf_gate_slot& slot, Instant until) {
  events::FaultDone line;
  line.op = op_text(slot.op);
  line.comm_id = slot.comm_id;
  line.seq = slot.seq;
  line.parked_ns = until - instant_of(slot.asked_ns);
  return line;
}

template <size_t N>
std::string text_of(const char (&bytes)[N]) {
  return {bytes, ::strnlen(bytes, N)};
}
std::string slot_path(const rf_gate_slot& slot) { return text_of(slot.path); }

// A signal counts although it may be one that ends no process.
bool may_end_a_process(const Action& action) {
  return action.verb == RF_VERB_EXIT || action.verb == RF_VERB_RAISE || act_of(action).may_end_a_process;
}

Result<std::string> perform(ActContext& context) {
  const ExternalAct& act = act_of(*context.action);
  return act.perform ? act.perform(context) : refused("the action does nothing outside the victim");
}

}  // namespace

Injector::Injector(const Plan& plan, const ControlPage& page, Journal& journal, UndoList& undo,
                   int guardian_pid, std::function<void()> before_end, std::string job_tmp,
                   std::function<Status(uint32_t, int, int)> load)
    : run_{plan, page, journal, undo, guardian_pid, std::move(job_tmp), std::move(load)},
      before_end_(std::move(before_end)) {}

void Injector::serve() {
  for (uint32_t i = 0; i < RF_MAX_GATE_SLOTS; ++i) {
    rf_gate_slot& slot = run_.page->slots[i];
    switch (RF_LOAD(&slot.state)) {
      case RF_GATE_ASKED:
        if (!parked_.count(i)) asked(i, slot);
        break;
      case RF_GATE_DONE:
        done(i, slot);
        break;
      case RF_GATE_ABANDONED:
        abandoned(i, slot);
        break;
      default:
        break;
    }
  }
}

// Grants the firing if the action has fired fewer than `times` times: in this attempt if it has
// `each_attempt`, else in the whole run.
bool Injector::grant(const Action& action, int attempt) {
  rf_armed& armed = run_.page->armed[action.id];
  uint64_t& in_attempt = granted_in_[{action.id, attempt}];
  if ((action.each_attempt ? in_attempt : RF_LOAD(&armed.fired)) >= action.times) return false;
  ++in_attempt;
  __atomic_fetch_add(&armed.fired, 1u, __ATOMIC_ACQ_REL);
  return true;
}

void Injector::asked(uint32_t index, rf_gate_slot& slot) {
  const ProcessId process = process_of(slot);
  if (slot.action >= run_.plan.actions.size()) return;
  const Action& action = run_.plan.actions[slot.action];
  run_.attempts[process] = std::max(run_.attempt, slot.attempt);
  auto line = run_.line<events::FaultAsked>(action, process, slot.rank);
  line.op = op_text(slot.op);
  line.comm_id = slot.comm_id;
  line.seq = slot.seq;
  line.step = slot.step;
  line.nth = slot.nth;
  line.count = slot.count;
  line.asked_ns = instant_of(slot.asked_ns);
  if (slot.path[0]) line.path = slot_path(slot);
  if (slot.is_upper) line.group = text_of(slot.group);
  ++firings_;
  run_.journal.write(line);

  Parked& parked = parked_[index];
  parked = {&action, process, slot.rank, false, {}};
  if (const char* why_not = refusal(action, process)) return answer(slot, parked, RF_ANSWER_NO_GO, why_not);
  if (may_end_a_process(action) && before_end_) before_end_();
  if (action.verb == RF_VERB_OUTSIDE)
    act_while_parked(slot, parked);
  else
    let_go(slot, parked);
}

// Returns why the agent may not act, or null.
const char* Injector::refusal(const Action& action, const ProcessId& process) {
  const auto stat = proc_stat(process.pid);
  if (!stat || stat->start != process.start || !descendants_of(run_.guardian_pid).count(process.pid))
    return "not a process of this job";
  return grant(action, run_.attempt_of(process)) ? nullptr : "fired as often as asked";
}

void Injector::let_go(rf_gate_slot& slot, Parked& parked) {
  context_of(*parked.action, parked.process, parked.rank).intend("go");
  if (parked.action->verb == RF_VERB_RAISE && parked.action->signal == SIGSTOP)
    (void)run_.undo.continue_process(parked.process.pid, parked.process.start);
  answer(slot, parked, RF_ANSWER_GO, "");
}

void Injector::act_while_parked(rf_gate_slot& slot, Parked& parked) {
  const Action& action = *parked.action;
  ActContext context = context_of(action, parked.process, parked.rank);
  context.path_at_gate = slot_path(slot);
  context.op_at_gate = slot.op;
  const Result<std::string> acted = perform(context);
  events::FaultDone line = at_the_gate(slot, HostClock::now());
  line.what = acted ? *acted : acted.error().to_string();
  journal_done(context, acted ? "done" : "refused", std::move(line));
  if (acted) after_done(action, parked.process, parked.rank);
  if (!acted || !context.victim_is_killed) answer(slot, parked, RF_ANSWER_RELEASE, "");
}

ActContext Injector::context_of(const Action& action, const ProcessId& process, int rank) {
  return {.run = &run_, .action = &action, .process = process, .rank = rank};
}

void Injector::answer(rf_gate_slot& slot, Parked& parked, rf_answer with, const char* text) {
  const char* word = with == RF_ANSWER_GO ? "go" : with == RF_ANSWER_NO_GO ? "no_go" : "release";
  auto line = run_.line<events::FaultAnswered>(*parked.action, parked.process, parked.rank);
  line.answer = word;
  if (*text) line.why = text;
  run_.journal.write(line);
  slot.answer = with;
  uint32_t expected = RF_GATE_ASKED;  // the agent may have given up meanwhile
  if (__atomic_compare_exchange_n(&slot.state, &expected, static_cast<uint32_t>(RF_GATE_ANSWERED), false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    futex_wake(&slot.state);
  parked.answered = true;
  parked.answered_at = HostClock::now();
}

void Injector::done(uint32_t index, rf_gate_slot& slot) {
  const auto it = parked_.find(index);
  if (it != parked_.end()) {
    const Parked parked = it->second;
    const bool journaled_before = parked.action->verb == RF_VERB_OUTSIDE;
    if (!journaled_before && slot.answer == RF_ANSWER_GO) {
      events::FaultDone line = at_the_gate(slot, parked.answered_at);
      line.time = instant_of(slot.done_ns);
      line.arg = slot.arg;
      if (slot.effect == RF_EFFECT_UNABLE && slot.why[0]) line.why = text_of(slot.why);
      journal_done(context_of(*parked.action, parked.process, parked.rank), effect_word(slot.effect),
                   std::move(line));
      if (slot.effect == RF_EFFECT_DONE) after_done(*parked.action, parked.process, parked.rank);
    }
    parked_.erase(it);
  }
  RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_FREE));
}

void Injector::abandoned(uint32_t index, rf_gate_slot& slot) {
  events::FaultDone line;
  line.parked_ns = HostClock::now() - instant_of(slot.asked_ns);
  if (const auto it = parked_.find(index); it != parked_.end()) {
    const Parked& parked = it->second;
    journal_done(context_of(*parked.action, parked.process, parked.rank), "abandoned", std::move(line));
    parked_.erase(it);
  } else if (slot.action < run_.plan.actions.size()) {
    journal_done(context_of(run_.plan.actions[slot.action], process_of(slot), slot.rank), "abandoned",
                 std::move(line));
  }
  RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_FREE));
}

void Injector::journal_done(const ActContext& act, const std::string& effect, events::FaultDone line) {
  run_.fill(line, *act.action, act.process, act.rank);
  line.effect = effect;
  if (!line.time) line.time = HostClock::now();
  ++firings_;
  run_.journal.write(line);
  if (act.action->verb == RF_VERB_OUTSIDE && effect == "done")
    __atomic_fetch_add(&run_.page->armed[act.action->id].done, 1u, __ATOMIC_ACQ_REL);
}

// Starts the wait for the effect of an action, and the delays of the actions that follow it.
void Injector::after_done(const Action& action, const ProcessId& process, int rank) {
  const Instant now = HostClock::now();
  if (action.verb == RF_VERB_RAISE && action.signal == SIGSTOP) await_stop(context_of(action, process, rank));
  for (const Action& next : run_.plan.actions)
    if (next.after == static_cast<int32_t>(action.id) && time_of(next) == ActTime::kLater)
      timed_.push_back({context_of(next, process, rank), now + next.delay});
}

void Injector::tick() {
  const Instant now = HostClock::now();
  tick_timed(now);
  for (const auto& state : run_.states) state->tick(now);
  tick_granted();
}

void Injector::tick_timed(Instant now) {
  for (size_t i = 0; i < timed_.size();) {
    if (timed_[i].due > now) {
      ++i;
      continue;
    }
    ActContext context = timed_[i].context;
    timed_.erase(timed_.begin() + static_cast<ptrdiff_t>(i));
    const Result<std::string> acted = perform(context);
    events::FaultDone line;
    line.what = acted ? *acted : acted.error().to_string();
    journal_done(context, acted ? "done" : "refused", std::move(line));
  }
}

// An action that does not wait for an answer leaves only a counter. Each tick that finds the counter changed
// journals one line.
void Injector::tick_granted() {
  for (const Action& action : run_.plan.actions) {
    if (action.ask || action.verb == RF_VERB_NONE) continue;
    const uint64_t done = RF_LOAD(&run_.page->armed[action.id].done);
    uint64_t& seen = granted_seen_[action.id];
    if (done == seen) continue;
    auto line = run_.line<events::FaultDone>(action, ProcessId{}, action.rank);
    line.process.reset();
    line.effect = "done";
    line.firings = done;
    if (action.verb == RF_VERB_DELAY)
      line.held_least_ns = duration_of(RF_LOAD(&run_.page->armed[action.id].held_least_ns));
    line.time = HostClock::now();
    ++firings_;
    run_.journal.write(line);
    seen = done;
  }
}

void Injector::process_ended(const ProcessId& process, Instant when) {
  serve();  // reads what the process wrote into its slots before it died
  for (const auto& state : run_.states) state->process_ended(process);
  std::erase_if(parked_, [&](const auto& entry) {
    const Parked& parked = entry.second;
    if (!is_same_process(parked.process, process)) return false;
    context_of(*parked.action, parked.process, parked.rank).effect("ended", {}, when);
    RF_STORE(&run_.page->slots[entry.first].state, static_cast<uint32_t>(RF_GATE_FREE));
    return true;
  });
}

void Injector::loaded(uint32_t tag, int error) { run_.load_answers[tag] = error; }

void Injector::finish() {
  tick();
  for (const auto& state : run_.states) state->finish();
}

std::optional<SentSignal> Injector::signal_sent(const ProcessId& process) const {
  for (const auto& [id, signal] : run_.signals)
    if (is_same_process(id, process)) return signal;
  return std::nullopt;
}

}  // namespace rankfault
