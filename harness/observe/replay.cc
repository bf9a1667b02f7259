// replay: Timelines from the files of a run directory: the journal's looks and ends, and the rings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/parallel.h"
#include "harness/journal/journal.h"
#include "harness/observe/arrange.h"
#include "harness/observe/history.h"
#include "harness/observe/observer.h"
#include "harness/observe/record_names.h"
#include "harness/observe/ring_reader.h"
#include "harness/observe/seen_files.h"

namespace rankfault {
namespace {

std::string records_of(const std::string& run_dir) { return run_dir + "/records"; }

// Everything that the files of one process hold.
struct Recorded {
  std::unique_ptr<RingReader> ring;
  std::vector<Event> events;                       // of all lanes, each once
  std::map<uint32_t, std::vector<uint64_t>> torn;  // by lane
};

void read_lane(const std::string& folder, uint32_t lane, Recorded& to) {
  const size_t before = to.events.size();
  for (const rf_record& r : read_seen(folder, to.ring->id(), lane))
    to.events.push_back({lane, r.commit - 1, r});
  const bool saved = to.events.size() != before;
  const RingReader::LaneRead read = to.ring->read_lane(lane, 0, to.events);
  to.torn[lane] = read.torn;
  if (!saved) return;
  const auto from = to.events.begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(from, to.events.end(), [](const Event& a, const Event& b) { return a.index < b.index; });
  to.events.erase(
      std::unique(from, to.events.end(), [](const Event& a, const Event& b) { return a.index == b.index; }),
      to.events.end());
}

Result<Recorded> read_recorded(const std::string& folder, const std::string& name) {
  auto ring = RingReader::open(folder + "/" + name);
  if (!ring) return ring.error();
  Recorded out;
  out.ring = std::move(*ring);
  for (uint32_t lane = 0; lane <= RF_MAX_LANES; ++lane)
    if (lane < out.ring->lanes_used() || !out.ring->has_state_page()) read_lane(folder, lane, out);
  sort_history(out.events);
  return out;
}

// Names and losses of a view whose lanes say where it is cut; with `history`, also the history.
void fill(ProcessView& view, const Recorded& from, bool history) {
  const HistoryCut cut(view.lanes);
  uint64_t claimed = 0, known = 0;
  for (const LaneView& lane : view.lanes) {
    claimed += lane.head;
    known += lane.torn.size();
  }
  for (const Event& e : from.events) {
    if (!cut.holds(e)) continue;
    ++known;
    add_name(*from.ring, e.record, view.name_at);
    if (history) view.history.push_back(e);
  }
  view.history_lost = claimed > known ? claimed - known : 0;
}

// The history of one process, cut as its view's lanes say.
class RingHistory final : public HistorySource {
 public:
  RingHistory(std::shared_ptr<const std::string> folder, const ProcessView& view)
      : folder_(std::move(folder)), id_(view.id), lanes_(view.lanes) {}
  std::optional<std::vector<Event>> events() const override {
    Result<Recorded> read = read_recorded(*folder_, id_.to_string() + ".ring");
    if (!read || !(read->ring->id() == id_)) return std::nullopt;
    const HistoryCut cut(lanes_);
    std::erase_if(read->events, [&](const Event& e) { return !cut.holds(e); });
    return std::move(read->events);
  }

 private:
  std::shared_ptr<const std::string> folder_;
  ProcessId id_;
  std::vector<LaneView> lanes_;
};

// Keeps the names and losses that were read; the history itself stays in its files.
void leave_in_file(ProcessView& view, const std::shared_ptr<const std::string>& folder) {
  view.source = std::make_shared<RingHistory>(folder, view);
}

void without_history(ProcessView& view) {
  view.partial |= RF_PARTIAL_HISTORY;
  view.history_lost = 0;
  for (const LaneView& lane : view.lanes) view.history_lost += lane.head;
  view.marks_lost.reset();
}

ProcessEnd end_of(const events::RankEnd& line) {
  ProcessEnd end;
  end.kind = EndKind::kEnded;
  end.time = line.time;
  end.status_known = line.kind != "unknown";
  end.last_words = line.last_words;
  end.oom_kill_in = line.oom_kill_in;
  end.by_signal = line.kind == "signal";
  end.value = line.value;
  return end;
}

struct FromJournal {
  Instant begin, last;
  int world_size = 0, attempt = 0;
  std::map<ProcessId, ProcessEnd> ends;
  std::map<ProcessId, std::map<uint64_t, std::string>> sites, lines;
  std::map<ProcessId, std::optional<uint64_t>> marks_lost;  // at the last look
  std::vector<ExpectedRank> expected;
  // Of the newest attempt.
  bool has_launcher = false, launcher_ends_all = false;
  JobStatus job_status = JobStatus::kRunning;
};

void take_spawned(const events::Spawned& spawned, FromJournal& j) {
  const int attempt = spawned.attempt.value_or(j.attempt);
  j.has_launcher = j.has_launcher || spawned.rank < 0;
  j.launcher_ends_all = j.launcher_ends_all || spawned.ends_all.value_or(spawned.rank < 0);
  if (spawned.rank >= 0) {
    j.expected.push_back({spawned.rank, attempt, true});
    return;
  }
  for (const ExpectedRank& e : j.expected)
    if (e.attempt == attempt) return;  // the launcher of another node journaled it already
  for (int r = 0; r < j.world_size; ++r) j.expected.push_back({r, attempt, true});
}

// A job without a launcher ended badly as soon as one of its ranks did.
void take_status(bool of_rank, bool zero, FromJournal& j) {
  if (!zero)
    j.job_status = JobStatus::kNotAllZero;
  else if (!of_rank && j.job_status == JobStatus::kRunning)
    j.job_status = JobStatus::kAllZero;
}

void take_look(const events::Look& look, FromJournal& j) {
  const auto t = look.state ? state_from_json(*look.state) : Result<Timeline>(usage_error("no state"));
  if (!t) return;
  for (const ProcessView& p : t->processes) {
    j.sites[p.id].insert(p.call_sites.begin(), p.call_sites.end());
    j.lines[p.id].insert(p.source_lines.begin(), p.source_lines.end());
    j.marks_lost[p.id] = p.marks_lost;
  }
}

FromJournal read(const JournalLines& lines) {
  FromJournal j;
  for (const JournalLine& line : lines) {
    j.last = line.t;
    if (const auto* run = line.as<events::RunBegin>()) {
      j.begin = line.t;
      j.world_size = run->world_size;
    } else if (const auto* attempt = line.as<events::AttemptBegin>()) {
      j.attempt = attempt->attempt;
      j.has_launcher = j.launcher_ends_all = false;
      j.job_status = JobStatus::kRunning;
    } else if (const auto* spawned = line.as<events::Spawned>()) {
      take_spawned(*spawned, j);
    } else if (const auto* end = line.as<events::RankEnd>()) {
      if (end->process) j.ends[*end->process] = end_of(*end);
      if (!j.has_launcher) take_status(true, end->kind == "exit" && end->value == 0, j);
    } else if (const auto* launcher = line.as<events::LauncherEnd>()) {
      take_status(false, launcher->kind == "exit" && launcher->value == 0, j);
    } else if (const auto* look = line.as<events::Look>()) {
      take_look(*look, j);
    }
  }
  return j;
}

}  // namespace

class RunRecords::Impl {
 public:
  explicit Impl(std::string folder) : folder_(std::make_shared<const std::string>(std::move(folder))) {}
  void fill(std::vector<ProcessView>& views) {
    size_t open = 0;
    for (; open < views.size() && read_.size() < kMostRead; ++open) {
      Opened one = fill(views[open], true);
      if (one.read) read_[views[open].id] = std::move(one.read);
      note(views[open], one);
    }
    std::vector<Opened> others(views.size() - open);
    in_parallel(others.size(), [&](size_t i) { others[i] = fill(views[open + i], false); });
    for (size_t i = 0; i < others.size(); ++i) note(views[open + i], others[i]);
  }
  const std::vector<std::string>& unread() const { return unread_; }

 private:
  struct Opened {
    std::unique_ptr<Recorded> read;  // to be kept
    std::string error;
  };

  // Changes nothing but the view.
  Opened fill(ProcessView& view, bool keep) const {
    if (const auto known = read_.find(view.id); known != read_.end())
      return {nullptr, fill(view, *known->second, true)};
    auto read = read_recorded(*folder_, view.id.to_string() + ".ring");
    if (!read || !(read->ring->id() == view.id)) {
      if (!read && has_no_record(view))
        return {};  // a program that a rank executed: its record was removed when it was over
      without_history(view);
      return {nullptr,
              read ? view.id.to_string() + ".ring: the record of another process" : read.error().message};
    }
    if (keep) {
      auto kept = std::make_unique<Recorded>(std::move(*read));
      std::string error = fill(view, *kept, true);
      return {std::move(kept), std::move(error)};
    }
    std::string error = fill(view, *read, false);
    leave_in_file(view, folder_);
    return {nullptr, std::move(error)};
  }

  static bool has_no_record(const ProcessView& view) {
    return std::all_of(view.lanes.begin(), view.lanes.end(), [](const LaneView& l) { return l.head == 0; });
  }

  // What the look had but the files no longer have: they were cut, or the oldest of them removed.
  static std::string fill(ProcessView& view, const Recorded& from, bool history) {
    const uint64_t lost_then = view.history_lost;
    view.history.clear();
    rankfault::fill(view, from, history);
    const uint64_t gone = view.history_lost > lost_then ? view.history_lost - lost_then : 0;
    view.history_lost = std::max(view.history_lost, lost_then);
    const bool cut = from.ring->is_shorter_than_it_says();
    if (cut) view.partial |= RF_PARTIAL_HISTORY;
    if (gone == 0) return cut ? view.id.to_string() + ".ring: a part of the file is missing" : "";
    view.partial |= RF_PARTIAL_HISTORY;
    view.marks_lost.reset();
    return fmt::format("{}.ring: {} records of a look at rank {} are missing", view.id.to_string(), gone,
                       view.rank);
  }

  void note(const ProcessView& view, const Opened& one) {
    if (!one.error.empty() && missing_.insert(view.id).second) unread_.push_back(one.error);
  }

  static constexpr size_t kMostRead = 64;  // their histories are held
  std::shared_ptr<const std::string> folder_;
  std::map<ProcessId, std::unique_ptr<Recorded>> read_;
  std::set<ProcessId> missing_;
  std::vector<std::string> unread_;
};

RunRecords::RunRecords(const std::string& run_dir) : impl_(std::make_unique<Impl>(records_of(run_dir))) {}
RunRecords::~RunRecords() = default;
const std::vector<std::string>& RunRecords::unread() const { return impl_->unread(); }

Result<Timeline> RunRecords::at_look(const events::Look& look) {
  if (!look.state) return usage_error("the look has no state");
  Result<Timeline> t = state_from_json(*look.state);
  if (!t) return t;
  impl_->fill(t->processes);
  return t;
}

Result<Timeline> timeline_from_run(const std::string& run_dir, const events::Look& look) {
  return RunRecords(run_dir).at_look(look);
}

namespace {

struct FinalRead {  // neither: killed in its first moments, so it says nothing
  std::optional<ProcessView> view;
  std::optional<Error> error;
};

FinalRead read_final(const std::shared_ptr<const std::string>& folder, const std::string& name,
                     Histories histories) {
  if (RingReader::half_made(*folder + "/" + name)) return {};
  const auto read = read_recorded(*folder, name);
  if (!read) return {std::nullopt, read.error()};
  ProcessView view = read->ring->view();
  for (LaneView& lane : view.lanes)
    if (const auto torn = read->torn.find(lane.index); torn != read->torn.end()) lane.torn = torn->second;
  fill(view, *read, histories == Histories::kInMemory);
  if (histories == Histories::kInFiles) leave_in_file(view, folder);
  return {std::move(view), std::nullopt};
}

}  // namespace

Result<Timeline> final_timeline(const std::string& run_dir, Histories histories) {
  const auto lines = read_journal(run_dir + "/journal.ndjson");
  if (!lines) return lines.error();
  FromJournal j = read(*lines);
  Timeline t;
  t.begin = j.begin;
  t.look = j.last;
  t.world_size = j.world_size;
  t.attempt = j.attempt;
  t.launcher_ends_all = j.launcher_ends_all;
  t.job_status = j.job_status;
  t.expected = std::move(j.expected);
  const auto folder = std::make_shared<const std::string>(records_of(run_dir));
  const std::vector<std::string> names = ring_names_in(*folder);
  std::vector<FinalRead> read(names.size());
  in_parallel(names.size(), [&](size_t i) { read[i] = read_final(folder, names[i], histories); });
  for (FinalRead& one : read) {
    if (one.error) return *one.error;
    if (!one.view) continue;
    ProcessView view = std::move(*one.view);
    if (const auto end = j.ends.find(view.id); end != j.ends.end()) view.end = end->second;
    view.call_sites = std::move(j.sites[view.id]);
    view.source_lines = std::move(j.lines[view.id]);
    if (const auto lost = j.marks_lost.find(view.id); lost != j.marks_lost.end())
      view.marks_lost = lost->second;
    t.processes.push_back(std::move(view));
  }
  arrange(t);
  return t;
}

}  // namespace rankfault
