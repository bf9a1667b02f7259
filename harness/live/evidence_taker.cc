#include "harness/live/evidence_taker.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/launch/guardian.h"

namespace rankfault {
namespace {

constexpr int kMostTimes = 8;  // each time stops the job for a moment

}  // namespace

void EvidenceTaker::take_one(const ProcessView& process) {
  if (!descends_from(process.id.pid, process.id.start, guardian_pid_)) return;
  Result<RankEvidence> evidence = gather(process.id.pid, process.id.start, process.rank, places_);
  const std::string name = times_ == 1 ? fmt::format("evidence/rank-{}.json", process.rank)
                                       : fmt::format("evidence/rank-{}.{}.json", process.rank, times_);
  const Status written =
      evidence ? run_.write_json(name, to_json(*evidence)) : Status(Error(evidence.error()));
  events::Evidence line{.rank = process.rank, .pid = process.id.pid, .file = {}, .no = {}};
  if (written)
    line.file = name;
  else
    line.no = written.error().to_string();
  journal_.write(line);
  if (evidence) taken_.push_back(std::move(*evidence));
}

EvidenceTaker::Trouble EvidenceTaker::trouble_of(const Finding& f) {
  return {f.attempt, f.kind, f.ranks, f.comm_id};
}

bool EvidenceTaker::wants(const Timeline& timeline, const std::vector<Finding>& news) const {
  if (attempt_ != timeline.attempt) return true;
  return times_ < kMostTimes && std::any_of(news.begin(), news.end(), [&](const Finding& f) {
           return !f.withdrawn && says_it_hangs(f) && taken_for_.count(trouble_of(f)) == 0;
         });
}

const std::vector<RankEvidence>& EvidenceTaker::take(const Timeline& timeline,
                                                     const std::vector<Finding>& news) {
  if (!wants(timeline, news)) return taken_;
  for (const Finding& f : news)
    if (says_it_hangs(f)) taken_for_.insert(trouble_of(f));
  ++times_;
  taken_.clear();
  std::error_code error;
  std::filesystem::create_directories(run_.file("evidence"), error);
  for (const ProcessView& process : timeline.processes) {
    if (interrupted_ && *interrupted_) break;
    if (process.attempt == timeline.attempt && process.end.kind == EndKind::kAlive && process.rank >= 0 &&
        timeline.rank(process.attempt, process.rank) == &process)
      take_one(process);
  }
  if (!taken_.empty()) attempt_ = timeline.attempt;
  return taken_;
}

}  // namespace rankfault
