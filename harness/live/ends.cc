// ends: see ends.h.
#include "harness/live/ends.h"

#include <algorithm>

namespace rankfault {
namespace {

constexpr TimeNs kStatusWait = 15'000'000;  // within the 20 ms from death to finding

const char* kind_word(const ExitStatus& status) {
  switch (status.kind) {
    case ExitStatus::Kind::kCode:
      return "exit";
    case ExitStatus::Kind::kSignal:
      return "signal";
    case ExitStatus::Kind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace

void Ends::watch(const ProcessId& process, int rank, int attempt) {
  Watched& w = watched_[process];
  w.end.rank = rank;
  w.end.attempt = attempt;
  if (w.end.process.pid != 0) return;
  w.end.process = process;
  if (Result<UniqueFd> pidfd = open_process(process.pid, process.start))
    w.pidfd = std::move(*pidfd);
  else
    w.gone = now_ns();
  if (const auto early = reaped_early_.find({process.pid, process.start}); early != reaped_early_.end())
    w.sources.waited = early->second;
}

bool Ends::knows(int pid, uint64_t start) const {
  return std::any_of(watched_.begin(), watched_.end(),
                     [&](const auto& entry) { return entry.first.pid == pid && entry.first.start == start; });
}

void Ends::reaped(int pid, uint64_t start, const ExitStatus& status, TimeNs when) {
  reaped_early_[{pid, start}] = status;
  for (auto& [id, w] : watched_) {
    if (id.pid != pid || id.start != start) continue;
    w.sources.waited = status;
    if (w.gone == 0) w.gone = when;
  }
}

void Ends::reported(const ReportedEnd& told) {
  for (auto& [id, w] : watched_)
    if (w.end.attempt == told.attempt && (told.pid != 0 ? id.pid == told.pid : w.end.rank == told.rank))
      w.sources.launcher = told.status;
}

void Ends::add_polls(std::vector<pollfd>& polls) const {
  for (const auto& [id, w] : watched_)
    if (w.gone == 0 && w.pidfd.valid()) polls.push_back({w.pidfd.get(), POLLIN, 0});
}

// True when something new is known of this process.
bool Ends::refresh(Watched& w, TimeNs now) {
  if (w.gone == 0) {
    pollfd p{w.pidfd.get(), POLLIN, 0};
    if (::poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN)) return false;
    w.gone = now;
  }
  if (!w.sources.kernel && w.pidfd.valid()) w.sources.kernel = kernel_exit_status(w.pidfd.get());
  if (!w.sources.our_signal)
    if (const auto signal = injector_.signal_sent(w.end.process); signal && *signal == 9)
      w.sources.our_signal = ExitStatus{ExitStatus::Kind::kSignal, *signal};
  if (!w.sources.own_record)
    w.sources.own_record = own_record_status(records_ + "/" + w.end.process.to_string() + ".ring");
  const BestEnd best = best_of(w.sources);
  const bool known = best.source != EndSource::kUnknown;
  if (w.told ? best.source == w.end.source || !known || w.end.source != EndSource::kUnknown
             : !known && now - w.gone < kStatusWait)
    return false;
  w.end.status = best.status;
  w.end.source = best.source;
  w.end.time = w.gone;
  w.told = true;
  return true;
}

std::vector<RankEnd> Ends::collect() {
  std::vector<RankEnd> news;
  const TimeNs now = now_ns();
  for (auto& [id, w] : watched_) {
    if (!refresh(w, now)) continue;
    journal(w.end);
    news.push_back(w.end);
    if (w.end.source != EndSource::kUnknown) w.pidfd.reset();
  }
  return news;
}

void Ends::journal(const RankEnd& end) {
  journal_.write("rank_end", {{"process", end.process.to_string()},
                              {"rank", end.rank},
                              {"attempt", end.attempt},
                              {"time", end.time},
                              {"kind", kind_word(end.status)},
                              {"value", end.status.value},
                              {"source", to_text(end.source)}});
}

bool Ends::waiting() const {
  for (const auto& [id, w] : watched_)
    if (w.gone != 0 && !w.told) return true;
  return false;
}

bool Ends::settled() const {
  for (const auto& [id, w] : watched_)
    if (!w.told || w.end.source == EndSource::kUnknown) return false;
  return true;
}

}  // namespace rankfault
