#include "harness/live/attempt_loop.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>

#include "harness/live/read_environment.h"
#include "harness/observe/library_traits.h"

namespace rankfault {

const char* to_text(AttemptEnd end) {
  switch (end) {
    case AttemptEnd::kOver:
      return "over";
    case AttemptEnd::kWall:
      return "wall";
    case AttemptEnd::kDecided:
      return "decided";
    case AttemptEnd::kInterrupted:
      return "interrupted";
    case AttemptEnd::kGuardianLost:
      return "guardian_lost";
  }
  return "";
}

namespace {

constexpr Duration kTick = 5ms, kIdleTick = 10ms;  // deaths, gates and the guardian wake us in between
constexpr Duration kScanEvery = 20ms;
constexpr Duration kSettle = 500ms;
constexpr Duration kLauncherGrace = 8s;
constexpr Duration kAskDecidedEvery = 200ms;
constexpr int kAskDecidedRest = 10;  // times the duration of the answer
constexpr Duration kLookAtGuardianEvery = 1s;
constexpr int kViewRest = 100;  // times the duration of a view: it takes at most 1 % of a core

const char* stage_word(rf_stage stage) {
  switch (stage) {
    case RF_STAGE_CANDIDATE:
      return "candidate";
    case RF_STAGE_MEMBER:
      return "member";
    case RF_STAGE_FINALIZED:
      return "finalized";
    case RF_STAGE_STRANGER:
      break;
  }
  return "stranger";
}

// A rank that never opened a flight record: launched without the agent, or ended before it could.
ProcessId without_record(const GuardianEvent& event) {
  ProcessId id;
  id.host = this_host();
  id.pid = event.pid;
  id.start = event.start;
  return id;
}

std::vector<events::Coverage> coverage_of(const ProcessView& view) {
  std::vector<events::Coverage> list;
  for (const Coverage& c : view.coverage) {
    const char* hook = c.hook == RF_HOOK_PRELOAD  ? "preload"
                       : c.hook == RF_HOOK_SHIM   ? "shim"
                       : c.hook == RF_HOOK_LINKED ? "linked"
                                                  : "none";
    list.push_back({traits_of(c.library).name, hook, c.decoder, c.version, c.reason});
  }
  return list;
}

}  // namespace

Result<AttemptEnd> AttemptLoop::run(const std::vector<LaunchItem>& items,
                                    const std::function<bool()>& decided,
                                    const std::atomic<int>* interrupted) {
  parts_.observer.set_job_status(JobStatus::kRunning);
  if (const Status spawned = spawn(items); !spawned) return spawned.error();
  expect_ranks();
  Result<AttemptEnd> end = run_to_end(decided, interrupted);
  parts_.promptness.rests();
  starvation_.finish();
  journal_bystanders();
  return end;
}

Result<AttemptEnd> AttemptLoop::run_to_end(const std::function<bool()>& decided,
                                           const std::atomic<int>* interrupted) {
  for (;;) {
    const Duration tick = parts_.injector.has_nothing_to_do() ? kIdleTick : kTick;
    wait_until(HostClock::now() + (parts_.ends.waiting() ? kTick / 5 : tick));
    parts_.doorbell.clear();
    parts_.injector.serve();
    parts_.promptness.answered();  // from here on the ranks run first, except directly after a death
    save_around_faults();
    if (const Status ok = guardian_events(); !ok) return ok.error();
    const Instant now = HostClock::now();
    serve_nodes(now);
    if (now >= next_scan_) scan();
    take_ends();
    parts_.injector.tick();
    if (now >= next_guardian_look_) {
      next_guardian_look_ = now + kLookAtGuardianEvery;
      parts_.guardian.continue_if_stopped();
      if (parts_.undo) parts_.host.list_segments(*parts_.undo);
    }
    if (guardian_lost_) return AttemptEnd::kGuardianLost;
    if (const Status late = spawn_late(now); !late) return late.error();
    if (interrupted && *interrupted) return AttemptEnd::kInterrupted;
    if (all_ended() && !parts_.ends.waiting()) {
      if (const Status ok = settle(); !ok) return ok.error();
      return AttemptEnd::kOver;
    }
    if (launcher_hangs(now)) return AttemptEnd::kOver;
    parts_.looks.tick(now);
    if (now >= wall_end_) return AttemptEnd::kWall;
    parts_.promptness.rests();
    if (parts_.promptness.hurries()) continue;
    show_ranks(now);
    if (now >= next_decided_) {
      if (decided()) return AttemptEnd::kDecided;
      next_decided_ = now + std::max(kAskDecidedEvery, (HostClock::now() - now) * kAskDecidedRest);
    }
  }
}

// A launcher may end before its ranks are reaped: their ends and statuses follow a moment later. The loop
// does not wait for a rank that outlives its launcher: it is a leftover.
Status AttemptLoop::settle() {
  const Instant until = HostClock::now() + kSettle;
  serve_nodes(HostClock::now());
  take_ends();
  while (HostClock::now() < until && !parts_.ends.settled()) {
    wait_until(HostClock::now() + kTick);
    parts_.promptness.answered();
    if (Status ok = guardian_events(); !ok) return ok;
    serve_nodes(HostClock::now());
    take_ends();
  }
  return Done{};
}

void AttemptLoop::serve_nodes(Instant now) {
  if (!parts_.nodes) return;
  parts_.nodes->serve(now);
  if (parts_.nodes->take_news()) parts_.looks.look("a node fell silent or came back");
}

Status AttemptLoop::spawn(const std::vector<LaunchItem>& items) {
  uint32_t tag = static_cast<uint32_t>(attempt_) * 100'000;
  for (const LaunchItem& item : items) {
    started_[++tag].item = item;
    if (item.later_by.count() != 0)
      late_.push_back(tag);
    else if (Status sent = parts_.guardian.spawn(tag, item.command); !sent)
      return sent;
  }
  return Done{};
}

// The delay counts from the first recorded start.
Status AttemptLoop::spawn_late(Instant now) {
  if (!is_known(first_spawned_)) return Done{};
  for (auto tag = late_.begin(); tag != late_.end();) {
    const LaunchItem& item = started_[*tag].item;
    if (now < first_spawned_ + item.later_by) {
      ++tag;
      continue;
    }
    if (Status sent = parts_.guardian.spawn(*tag, item.command); !sent) return sent;
    tag = late_.erase(tag);
  }
  return Done{};
}

void AttemptLoop::wait_until(Instant wanted) {
  std::vector<pollfd> polls{{parts_.guardian.fd(), POLLIN, 0}, {parts_.doorbell.fd(), POLLIN, 0}};
  parts_.ends.add_polls(polls);
  if (parts_.nodes) parts_.nodes->add_polls(polls);
  const Instant now = HostClock::now();
  timespec timeout{};
  if (wanted > now) timeout.tv_nsec = std::min(wanted - now, kIdleTick).count();
  starvation_.goes_to_sleep(now);
  parts_.promptness.sleeps();
  ::ppoll(polls.data(), polls.size(), &timeout, nullptr);
  parts_.promptness.wakes();
  starvation_.woke(wanted, HostClock::now());
}

Status AttemptLoop::guardian_events() {
  while (const auto event = parts_.guardian.next()) {
    const auto it = started_.find(event->tag);
    switch (event->kind) {
      case GuardianEvent::Kind::kSpawned:
        if (it == started_.end()) break;
        it->second.pid = event->pid;
        it->second.start = event->start;
        parts_.host.add_process(event->pid, event->start);
        if (!it->second.item.watched.empty())
          it->second.environment = read_environment(event->pid, it->second.item.watched);
        parts_.journal.write(events::Spawned{.tag = event->tag,
                                             .rank = it->second.item.rank,
                                             .ends_all = it->second.item.ends_all,
                                             .attempt = attempt_,
                                             .pid = event->pid,
                                             .start = event->start,
                                             .argv = it->second.item.command.argv,
                                             .told_anyway = it->second.item.as_others});
        if (!is_known(first_spawned_)) first_spawned_ = HostClock::now();
        expect_ranks();
        break;
      case GuardianEvent::Kind::kRefused: {
        const Error why = errno_error("cannot " + event->text, event->a);
        return attempt_ == 0 && !is_known(first_spawned_) ? why
                                                          : unjudged("a part of the job ran: " + why.message);
      }
      case GuardianEvent::Kind::kEnded: {
        parts_.host.process_ended(event->pid, event->start);
        const ExitStatus status = ExitStatus::from_wait_status(event->a);
        if (it != started_.end() && event->tag != 0) {
          it->second.ended = true;
          if (!status.zero() && worst_.zero()) worst_ = status;
          parts_.observer.set_job_status(job_status());
          if (it->second.item.rank < 0)
            parts_.journal.write(
                events::LauncherEnd{.attempt = attempt_,
                                    .pid = event->pid,
                                    .kind = status.kind == ExitStatus::Kind::kSignal ? "signal" : "exit",
                                    .value = status.value});
        }
        scan();  // the record may have appeared after the last scan
        if (it != started_.end() && it->second.item.rank >= 0 && !parts_.ends.knows(event->pid, event->start))
          parts_.ends.watch(without_record(*event), it->second.item.rank, attempt_);
        parts_.ends.reaped(event->pid, event->start, status, event->time);
        break;
      }
      case GuardianEvent::Kind::kLoaded:
        parts_.injector.loaded(event->tag, event->b);
        break;
      case GuardianEvent::Kind::kLost:
        guardian_lost_ = true;
        return Done{};
      default:
        break;
    }
  }
  return Done{};
}

void AttemptLoop::scan() {
  next_scan_ = HostClock::now() + kScanEvery;
  for (const ProcessId& id : parts_.observer.scan()) {
    const ProcessView* view = parts_.observer.process(id);
    if (is_visible_here(id)) parts_.host.add_process(id.pid, id.start);
    if (!view || view->attempt < attempt_) continue;
    if (view->attempt > newest_) {  // an elastic launcher counts its own restarts
      newest_ = view->attempt;
      expect_ranks();
    }
    // Ranks may execute any number of such programs in the course of a job. The loop journals one only if it
    // becomes a rank or still lives when the attempt ends.
    const bool bystander = parts_.observer.is_bystander(id);
    watch_end(id, *view, bystander);
    if (bystander)
      bystanders_.insert(id);
    else
      journal_process(id);
    if (!bystander) bystanders_.erase(id);
  }
  for (const ProcessId& id : parts_.observer.take_forgotten()) {
    parts_.ends.forget(id);
    bystanders_.erase(id);
    journaled_.erase(id);
    environments_.erase(id);
  }
  parts_.observer.drain();
}

// The guardian of another node watches the processes there.
void AttemptLoop::watch_end(const ProcessId& id, const ProcessView& view, bool quiet) {
  if (!parts_.nodes || is_visible_here(id)) parts_.ends.watch(id, view.rank, view.attempt, quiet);
}

void AttemptLoop::journal_bystanders() {
  scan();
  for (const ProcessId& id : std::exchange(bystanders_, {})) {
    const ProcessView* view = parts_.observer.process(id);
    if (!view) continue;
    watch_end(id, *view, false);
    journal_process(id);
  }
}

// The variables that the process has when it is first seen: a wrapper may have changed them. For a process
// that is gone by then, after some milliseconds, those with which it was started.
Json AttemptLoop::environment_of(const ProcessId& id) {
  if (const auto read = environments_.find(id); read != environments_.end()) return read->second;
  for (const auto& [tag, s] : started_)
    if (s.pid == id.pid && s.start == id.start && !s.item.watched.empty()) {
      Json env = read_environment(id.pid, s.item.watched);
      return environments_[id] = env.is_null() ? s.environment : std::move(env);
    }
  return nullptr;
}

void AttemptLoop::journal_process(const ProcessId& id) {
  const ProcessView* view = parts_.observer.process(id);
  events::Process line{.process = id,
                       .rank = view->rank,
                       .world_size = view->world_size,
                       .stage = stage_word(view->stage),
                       .attempt = view->attempt,
                       .generation = view->generation,
                       .coverage = coverage_of(*view),
                       .python = parts_.observer.python_of(id),
                       .pid = {},
                       .env = {}};
  if (Json env = environment_of(id); !env.is_null()) {
    line.pid = id.pid;
    line.env = std::move(env);
  }
  std::string text = keys_to_json(line).dump();
  if (journaled_[id] == text) return;
  journaled_[id] = std::move(text);
  parts_.journal.write(line);
}

// A fault's effect is verified from the calls around it.
void AttemptLoop::save_around_faults() {
  const uint64_t fired = parts_.injector.firings();
  if (std::exchange(fired_, fired) != fired) parts_.observer.save_around_now();
}

void AttemptLoop::show_ranks(Instant now) {
  const RankView* view = parts_.view;
  if (!view) return;
  const bool asked = view->asked && view->asked->exchange(0) != 0;
  if (!asked && (view->every == Duration::zero() || now < next_view_)) return;
  view->show(parts_.observer.look(true, 1), asked);
  const Instant shown = HostClock::now();
  next_view_ = shown + std::max(view->every, (shown - now) * kViewRest);
}

void AttemptLoop::take_ends() {
  std::vector<RankEnd> ends = parts_.ends.collect();
  if (parts_.nodes)
    for (RankEnd& end : parts_.nodes->take_ends()) ends.push_back(std::move(end));
  if (ends.empty()) return;
  for (const RankEnd& end : ends) {
    parts_.observer.set_end(end);
    if (is_visible_here(end.process)) parts_.host.process_ended(end.process.pid, end.process.start);
    parts_.injector.process_ended(end.process, end.time);
  }
  if (!all_ended()) parts_.looks.look("a process ended");
}

void AttemptLoop::expect_ranks() {
  std::vector<ExpectedRank> expected;
  for (int rank = 0; rank < world_size_; ++rank) {
    ExpectedRank e{rank, newest_, false};
    for (const auto& [tag, s] : started_)
      if (s.item.rank == rank && s.pid != 0) e.started = true;
    expected.push_back(e);
  }
  parts_.observer.set_expected(std::move(expected), world_size_, newest_);
  parts_.observer.set_launcher_ends_all(std::any_of(
      started_.begin(), started_.end(), [](const auto& entry) { return entry.second.item.ends_all; }));
}

// The job consists of its ranks. Open MPI 4.1.4 sometimes deadlocks in PMIx_server_finalize after an abort:
// all its ranks are gone, but it stays. The census reports what it left.
bool AttemptLoop::launcher_hangs(Instant now) {
  if (restarts_ranks_ || started_.empty() || started_.begin()->second.item.rank >= 0) return false;
  const Instant gone = parts_.ends.all_gone_since(world_size_);
  if (!is_known(gone) || now < gone + kLauncherGrace) return false;
  parts_.journal.write(
      events::LauncherHung{.attempt = attempt_, .pid = started_.begin()->second.pid, .ranks_gone = gone});
  return true;
}

JobStatus AttemptLoop::job_status() const {
  if (!all_ended()) return JobStatus::kRunning;
  return worst_.zero() ? JobStatus::kAllZero : JobStatus::kNotAllZero;
}

bool AttemptLoop::all_ended() const {
  return std::all_of(started_.begin(), started_.end(), [](const auto& entry) { return entry.second.ended; });
}

}  // namespace rankfault
