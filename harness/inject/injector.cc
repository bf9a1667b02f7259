// injector: the harness's half of the gate.
#include "harness/inject/injector.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "harness/base/process_tree.h"
#include "harness/inject/rank_children.h"

namespace rankfault {
namespace {

const char* op_word(uint16_t op) {
  static constexpr const char* kWords[] = {
#define RF_OP(id, text, need) text,
#include "harness/agent/ops.def"
#undef RF_OP
  };
  return op < RF_OP_COUNT ? kWords[op] : "unknown";
}

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

std::string slot_path(const rf_gate_slot& slot) {
  return {slot.path, ::strnlen(slot.path, sizeof slot.path)};
}

}  // namespace

Injector::Injector(const Plan& plan, const ControlPage& page, Journal& journal, UndoList& undo,
                   int guardian_pid, std::function<void()> before_end, std::string job_tmp,
                   std::function<Status(uint32_t, int, int)> load)
    : plan_(plan),
      page_(page),
      journal_(journal),
      undo_(undo),
      guardian_pid_(guardian_pid),
      before_end_(std::move(before_end)),
      job_tmp_(std::move(job_tmp)),
      load_(std::move(load)) {}

Json Injector::base(const Action& action, const ProcessId& process, int rank) const {
  return {{"fault", action.fault},
          {"action", action.id},
          {"process", process.to_string()},
          {"rank", rank},
          {"attempt", attempt_of(process)}};
}

// An elastic launcher restarts the ranks within one attempt of the harness. The process then reports its
// attempt itself.
int Injector::attempt_of(const ProcessId& process) const {
  const auto told = attempts_.find(process);
  return told != attempts_.end() ? told->second : attempt_;
}

void Injector::serve() {
  for (uint32_t i = 0; i < RF_MAX_GATE_SLOTS; ++i) {
    rf_gate_slot& slot = page_->slots[i];
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
  rf_armed& armed = page_->armed[action.id];
  uint64_t& in_attempt = granted_in_[{action.id, attempt}];
  if ((action.each_attempt ? in_attempt : RF_LOAD(&armed.fired)) >= action.times) return false;
  ++in_attempt;
  __atomic_fetch_add(&armed.fired, 1u, __ATOMIC_ACQ_REL);
  return true;
}

void Injector::asked(uint32_t index, rf_gate_slot& slot) {
  const ProcessId process = process_of(slot);
  if (slot.action >= plan_.actions.size()) return;
  const Action& action = plan_.actions[slot.action];
  attempts_[process] = std::max(attempt_, slot.attempt);
  Json line = base(action, process, slot.rank);
  line["op"] = op_word(slot.op);
  line["comm_id"] = slot.comm_id;
  line["seq"] = slot.seq;
  line["step"] = slot.step;
  line["nth"] = slot.nth;
  line["count"] = slot.count;
  line["asked_ns"] = slot.asked_ns;
  if (slot.path[0]) line["path"] = slot_path(slot);
  ++firings_;
  journal_.write("fault_asked", std::move(line));

  Parked& parked = parked_[index];
  parked = {&action, process, slot.rank, false, 0};
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
  if (!stat || stat->start != process.start || !descendants_of(guardian_pid_).count(process.pid))
    return "not a process of this job";
  return grant(action, attempt_of(process)) ? nullptr : "fired as often as asked";
}

void Injector::let_go(rf_gate_slot& slot, Parked& parked) {
  Json intent = base(*parked.action, parked.process, parked.rank);
  intent["what"] = "go";
  journal_.write("fault_intent", std::move(intent));
  if (parked.action->verb == RF_VERB_RAISE && parked.action->signal == SIGSTOP)
    (void)undo_.add(fmt::format("continue {} {}", parked.process.pid, parked.process.start));
  answer(slot, parked, RF_ANSWER_GO, "");
}

void Injector::act_while_parked(rf_gate_slot& slot, Parked& parked) {
  const Action& action = *parked.action;
  const Result<std::string> acted = act(action, parked.process, parked.rank, &slot);
  journal_done(action, parked.process, parked.rank, acted ? "done" : "refused",
               {{"what", acted ? *acted : acted.error().to_string()},
                {"op", op_word(slot.op)},
                {"comm_id", slot.comm_id},
                {"seq", slot.seq},
                {"parked_ns", now_ns() - slot.asked_ns}});
  if (acted) after_done(action, parked.process, parked.rank);
  // A thread whose process this action kills is not released: it must die at the gate.
  const bool ends_it = action.outside == ExternalAction::kKillNode ||
                       (action.outside == ExternalAction::kSignal && action.signal == SIGKILL);
  if (!acted || !ends_it) answer(slot, parked, RF_ANSWER_RELEASE, "");
}

void Injector::answer(rf_gate_slot& slot, Parked& parked, rf_answer with, const char* text) {
  const char* word = with == RF_ANSWER_GO ? "go" : with == RF_ANSWER_NO_GO ? "no_go" : "release";
  Json line = base(*parked.action, parked.process, parked.rank);
  line["answer"] = word;
  if (*text) line["why"] = text;
  journal_.write("fault_answered", std::move(line));
  slot.answer = with;
  uint32_t expected = RF_GATE_ASKED;  // the agent may have given up meanwhile
  if (__atomic_compare_exchange_n(&slot.state, &expected, static_cast<uint32_t>(RF_GATE_ANSWERED), false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    futex_wake(&slot.state);
  parked.answered = true;
  parked.answered_at = now_ns();
}

void Injector::done(uint32_t index, rf_gate_slot& slot) {
  const auto it = parked_.find(index);
  if (it != parked_.end()) {
    const Parked parked = it->second;
    const bool journaled_before = parked.action->verb == RF_VERB_OUTSIDE;
    if (!journaled_before && slot.answer == RF_ANSWER_GO) {
      journal_done(*parked.action, parked.process, parked.rank, effect_word(slot.effect),
                   {{"op", op_word(slot.op)},
                    {"comm_id", slot.comm_id},
                    {"seq", slot.seq},
                    {"parked_ns", parked.answered_at - slot.asked_ns},
                    {"time", slot.done_ns},
                    {"arg", slot.arg}});
      if (slot.effect == RF_EFFECT_DONE) after_done(*parked.action, parked.process, parked.rank);
    }
    parked_.erase(it);
  }
  RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_FREE));
}

void Injector::abandoned(uint32_t index, rf_gate_slot& slot) {
  if (const auto it = parked_.find(index); it != parked_.end()) {
    journal_done(*it->second.action, it->second.process, it->second.rank, "abandoned",
                 {{"parked_ns", now_ns() - slot.asked_ns}});
    parked_.erase(it);
  } else if (slot.action < plan_.actions.size()) {
    journal_done(plan_.actions[slot.action], process_of(slot), slot.rank, "abandoned",
                 {{"parked_ns", now_ns() - slot.asked_ns}});
  }
  RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_FREE));
}

void Injector::journal_done(const Action& action, const ProcessId& process, int rank, const char* effect,
                            const Json& more) {
  Json line = base(action, process, rank);
  line["effect"] = effect;
  line.update(more);
  if (!line.contains("time")) line["time"] = now_ns();
  ++firings_;
  journal_.write("fault_done", std::move(line));
  if (action.verb == RF_VERB_OUTSIDE && std::string_view(effect) == "done")
    __atomic_fetch_add(&page_->armed[action.id].done, 1u, __ATOMIC_ACQ_REL);
}

// Starts the watch for the effect of an action, and the delays of the actions that follow it.
void Injector::after_done(const Action& action, const ProcessId& process, int rank) {
  const TimeNs now = now_ns();
  const bool stops =
      (action.verb == RF_VERB_RAISE || action.outside == ExternalAction::kSignal) && action.signal == SIGSTOP;
  if (stops) watched_.push_back({&action, process, rank, 'T', now + 2'000'000'000, {}});
  for (const Action& next : plan_.actions)
    if (next.after == static_cast<int32_t>(action.id) && is_timed(next.outside))
      timed_.push_back({&next, process, rank, now + static_cast<TimeNs>(next.delay.count())});
}

void Injector::tick() {
  const TimeNs now = now_ns();
  tick_timed(now);
  tick_watched(now);
  tick_granted();
  look_at_loads(now);
}

void Injector::tick_timed(TimeNs now) {
  for (size_t i = 0; i < timed_.size();) {
    if (timed_[i].due > now) {
      ++i;
      continue;
    }
    const Timed timed = timed_[i];
    timed_.erase(timed_.begin() + static_cast<ptrdiff_t>(i));
    const Result<std::string> acted = act(*timed.action, timed.process, timed.rank, nullptr);
    journal_done(*timed.action, timed.process, timed.rank, acted ? "done" : "refused",
                 {{"what", acted ? *acted : acted.error().to_string()}});
    if (acted && timed.action->outside == ExternalAction::kContinue)
      watched_.push_back({timed.action, timed.process, timed.rank, 'r', now + 2'000'000'000, {}});
  }
}

void Injector::tick_watched(TimeNs now) {
  std::erase_if(watched_, [&](const Watched& w) {
    if (w.state == 'Z') return helper_seen(w, now);
    const auto stat = proc_stat(w.process.pid);
    const bool alive = stat && stat->start == w.process.start;
    const bool stopped = alive && (stat->state == 'T' || stat->state == 't');
    if (alive && (w.state == 'T') == stopped) {
      Json line = base(*w.action, w.process, w.rank);
      line["what"] = w.state == 'T' ? "stopped" : "continued";
      line["time"] = now;
      journal_.write("fault_effect", std::move(line));
      return true;
    }
    return !alive || now > w.until;
  });
}

// Journals how a signalled helper or launcher ended, or that it still lives when the watch ends. Returns
// whether the watch is over.
bool Injector::helper_seen(const Watched& w, TimeNs now) {
  const HelperEnd end = end_of_helper(w.helper.pid, w.helper.start, w.action->signal);
  if (end == HelperEnd::kLives && now <= w.until) return false;
  if (end == HelperEnd::kUnseen) return true;
  Json line = base(*w.action, w.process, w.rank);
  const bool helper = w.action->outside == ExternalAction::kSignalHelper;
  const std::string whose = helper ? "helper" : "launcher";
  line["what"] = whose + (end == HelperEnd::kBySignal ? "_ended" : "_lives");
  if (end == HelperEnd::kOtherwise) line["what"] = whose + "_ended_otherwise";
  line[whose] = w.helper.to_string();
  line["time"] = now;
  journal_.write("fault_effect", std::move(line));
  return true;
}

// An action that does not wait for an answer leaves only a counter. Each tick that finds the counter changed
// journals one line.
void Injector::tick_granted() {
  for (const Action& action : plan_.actions) {
    if (action.ask || action.verb == RF_VERB_NONE) continue;
    const uint64_t done = RF_LOAD(&page_->armed[action.id].done);
    uint64_t& seen = granted_seen_[action.id];
    if (done == seen) continue;
    Json line = base(action, ProcessId{}, action.rank);
    line.erase("process");
    line["effect"] = "done";
    line["firings"] = done;
    if (action.verb == RF_VERB_DELAY) line["held_least_ns"] = RF_LOAD(&page_->armed[action.id].held_least_ns);
    line["time"] = now_ns();
    ++firings_;
    journal_.write("fault_done", std::move(line));
    seen = done;
  }
}

TimeNs Injector::next_due() const {
  TimeNs due = 0;
  for (const Timed& timed : timed_)
    if (due == 0 || timed.due < due) due = timed.due;
  return due;
}

void Injector::process_ended(const ProcessId& process, TimeNs when) {
  serve();  // reads what the process wrote into its slots before it died
  std::erase_if(loads_, [&](const Load& load) {
    if (load.process.pid != process.pid || load.process.start != process.start) return false;
    journal_load(load);
    return true;
  });
  std::erase_if(parked_, [&](const auto& entry) {
    const Parked& parked = entry.second;
    if (parked.process.pid != process.pid || parked.process.start != process.start) return false;
    Json line = base(*parked.action, process, parked.rank);
    line["what"] = "ended";
    line["time"] = when;
    journal_.write("fault_effect", std::move(line));
    RF_STORE(&page_->slots[entry.first].state, static_cast<uint32_t>(RF_GATE_FREE));
    return true;
  });
}

std::optional<Injector::SentSignal> Injector::signal_sent(const ProcessId& process) const {
  for (const auto& [id, signal] : signals_)
    if (id.pid == process.pid && id.start == process.start) return signal;
  return std::nullopt;
}

}  // namespace rankfault
