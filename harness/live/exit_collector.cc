#include "harness/live/exit_collector.h"

#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "harness/base/process_tree.h"
#include "harness/journal/rank_end_line.h"
#include "harness/launch/error_file.h"
#include "harness/launch/rank_output.h"
#include "harness/live/read_environment.h"

namespace rankfault {
namespace {

constexpr Duration kStatusWait = 15ms;  // within the 20 ms from death to finding

constexpr size_t kMostReaped = 4096;  // orphans of a long job; a process that becomes a rank is looked up at
                                      // once

// pidfd_open may fail although the process lives: descriptors may have run out, or the process is not visible
// here.
bool is_gone(const ProcessId& process) {
  if (!is_visible_here(process)) return false;
  const auto stat = proc_stat(process.pid);
  return !stat || stat->start != process.start || stat->state == 'Z';
}

}  // namespace

void ExitCollector::watch(const ProcessId& process, int rank, int attempt, bool quiet) {
  Watched& w = watched_[process];
  w.quiet = quiet;
  if (!quiet && w.told && !w.journaled) journal(w);
  w.end.rank = rank;
  w.end.attempt = attempt;
  if (w.end.process.pid == 0) begin_watch(w, process);
  if (w.token != 0) deaths_.set_quiet(w.token, quiet);
}

void ExitCollector::begin_watch(Watched& w, const ProcessId& process) {
  w.end.process = process;
  if (is_visible_here(process)) {
    oom_kills_.watch(process.pid);
    const Json env = read_environment(process.pid, {kErrorFileVariable});
    if (env.is_object()) w.error_file = env.value(kErrorFileVariable, "");
  }
  if (Result<UniqueFd> pidfd = open_process(process.pid, process.start))
    w.token = watch_death((w.pidfd = std::move(*pidfd)).get(), process);
  else if (is_gone(process))
    w.gone = HostClock::now();
  if (const auto early = reaped_early_.find({process.pid, process.start}); early != reaped_early_.end())
    w.sources.waited = early->second;
}

void ExitCollector::forget(const ProcessId& process) {
  const auto at = watched_.find(process);
  if (at == watched_.end()) return;
  deaths_.forget(at->second.token);
  watched_.erase(at);
  if (is_visible_here(process) && !knows(process.pid, process.start)) oom_kills_.forget(process.pid);
}

bool ExitCollector::knows(int pid, uint64_t start) const {
  return std::any_of(watched_.begin(), watched_.end(),
                     [&](const auto& entry) { return entry.first.pid == pid && entry.first.start == start; });
}

void ExitCollector::reaped(int pid, uint64_t start, const ExitStatus& status, Instant when) {
  if (reaped_early_.size() > kMostReaped) reaped_early_.erase(reaped_early_.begin());
  reaped_early_[{pid, start}] = status;
  for (auto& [id, w] : watched_) {
    if (id.pid != pid || id.start != start) continue;
    w.sources.waited = status;
    if (!is_known(w.gone)) w.gone = when;
  }
}

void ExitCollector::reported(const ReportedEnd& told) {
  for (auto& [id, w] : watched_)
    if ((told.attempt < 0 || w.end.attempt == told.attempt) &&
        (told.pid != 0 ? id.pid == told.pid : w.end.rank == told.rank))
      w.sources.launcher = told.status;
}

void ExitCollector::add_polls(std::vector<pollfd>& polls) const {
  polls.push_back({deaths_.fd(), POLLIN, 0});
  for (const auto& [id, w] : watched_)
    if (!is_known(w.gone) && w.pidfd.valid() && w.token == 0) polls.push_back({w.pidfd.get(), POLLIN, 0});
}

std::string ExitCollector::record_of(const ProcessId& process) const {
  return records_ + "/" + process.to_string() + ".ring";
}

uint64_t ExitCollector::watch_death(int pidfd, const ProcessId& process) {
  return deaths_.add(pidfd, ++last_token_, process, record_of(process)) ? last_token_ : 0;
}

void ExitCollector::take_deaths() {
  for (const DeathWatch::Death& death : deaths_.take())
    for (auto& [id, w] : watched_)
      if (w.token == death.token && !is_known(w.gone)) w.gone = death.when;
}

std::optional<SentSignal> ExitCollector::signal_sent(const ProcessId& process) const {
  return injector_ ? injector_->signal_sent(process) : std::nullopt;
}

// The time at which we sent SIGKILL, if it is pending for the threads of the process. From then on no
// thread returns to the program's own instructions, although on a busy machine the process may wait long for
// the CPU before it dies.
Instant ExitCollector::killed_by_us(const ProcessId& process) const {
  const auto sent = signal_sent(process);
  if (!sent || sent->signal != SIGKILL || !is_visible_here(process)) return {};
  const auto stat = proc_stat(process.pid);
  return stat && stat->start == process.start && stat->dying ? sent->time : Instant{};
}

// True when something new is known about this process.
bool ExitCollector::refresh(Watched& w) {
  if (!is_known(w.gone)) w.gone = killed_by_us(w.end.process);
  if (!is_known(w.gone)) {
    if (w.token != 0) return false;
    pollfd p{w.pidfd.get(), POLLIN, 0};
    const bool over = w.pidfd.valid() ? ::poll(&p, 1, 0) > 0 && (p.revents & POLLIN) : is_gone(w.end.process);
    if (!over) return false;
    w.gone = HostClock::now();  // read afterwards: an end is never dated before the last call of its process
  }
  if (!w.sources.kernel && w.pidfd.valid()) w.sources.kernel = kernel_exit_status(w.pidfd.get());
  if (!w.sources.kernel && w.end.process.pid_ns == own_pid_ns())
    w.sources.kernel = unreaped_exit_status(w.end.process.pid, w.end.process.start);
  if (!w.sources.our_signal)
    if (const auto sent = signal_sent(w.end.process); sent && sent->signal == SIGKILL) {
      w.sources.our_signal = ExitStatus{ExitStatus::Kind::kSignal, sent->signal};
      // The process did nothing from then on. It is dead only when its memory is gone, and by then its
      // launcher may have seen its sockets closed and killed the others.
      w.gone = std::min(w.gone, sent->time);
    }
  if (!w.sources.own_record)
    if (const auto own = own_exit(record_of(w.end.process))) {
      w.sources.own_record = own->status;
      w.gone = std::min(w.gone, own->time);  // the consequences of an exit may be seen before the process has
                                             // ended
    }
  const BestEnd best = best_of(w.sources);
  const bool known = best.source != EndSource::kUnknown;
  if (w.told ? best.source == w.end.source || !known || w.end.source != EndSource::kUnknown
             : !known && HostClock::now() - w.gone < kStatusWait)
    return false;
  w.end.status = best.status;
  w.end.source = best.source;
  w.end.time = w.gone;
  w.end.outlived = deaths_.outlived(w.token);
  if (!best.status.zero() && w.end.last_words.empty())
    w.end.last_words = last_words(record_of(w.end.process), w.error_file);
  w.told = true;
  return true;
}

std::vector<RankEnd> ExitCollector::collect() {
  std::vector<Watched*> changed;
  take_deaths();
  for (auto& [id, w] : watched_)
    if (refresh(w)) changed.push_back(&w);
  // In the order of their ends: a launcher kills the others after the out-of-memory killer killed one.
  std::stable_sort(changed.begin(), changed.end(),
                   [](const Watched* a, const Watched* b) { return a->gone < b->gone; });
  std::vector<RankEnd> news;
  for (Watched* w : changed) {
    const bool killed = w->end.status.is_signal(SIGKILL) && w->end.source != EndSource::kOurSignal;
    if (killed && w->end.oom_kill_in.empty()) w->end.oom_kill_in = oom_kills_.take(w->end.process.pid);
    if (!w->quiet) journal(*w);
    news.push_back(w->end);
    if (w->end.source != EndSource::kUnknown) w->pidfd.reset();
  }
  return news;
}

void ExitCollector::journal(Watched& w) {
  w.journaled = true;
  journal_.write(line_of(w.end));
}

bool ExitCollector::waiting() const {
  for (const auto& [id, w] : watched_)
    if (is_known(w.gone) && !w.told) return true;
  return false;
}

Instant ExitCollector::all_gone_since(int ranks) const {
  std::set<int> seen;
  Instant last;
  for (const auto& [id, w] : watched_) {
    if (!is_known(w.gone)) return {};
    seen.insert(w.end.rank);
    last = std::max(last, w.gone);
  }
  return static_cast<int>(seen.size()) >= ranks ? last : Instant{};
}

bool ExitCollector::settled() const {
  for (const auto& [id, w] : watched_)
    if (!w.told || w.end.source == EndSource::kUnknown) return false;
  return true;
}

}  // namespace rankfault
