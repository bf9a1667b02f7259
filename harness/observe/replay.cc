// replay: Timelines from the files of a run directory: the journal's looks and ends, and the rings.
#include <fmt/format.h>

#include <map>
#include <set>

#include "harness/base/parallel.h"
#include "harness/observe/flight_memory.h"
#include "harness/observe/observer.h"
#include "harness/observe/record_names.h"
#include "harness/observe/same_words.h"
#include "harness/run/journal.h"

namespace rankfault {
namespace {

std::string records_of(const std::string& run_dir) { return run_dir + "/records"; }

Result<std::unique_ptr<FlightMemory>> open_memory(const std::string& folder, const std::string& name) {
  auto ring = RingReader::open(folder + "/" + name);
  if (!ring) return ring.error();
  auto memory = std::make_unique<FlightMemory>(std::move(*ring), folder, false);
  memory->drain();
  return memory;
}

// The history of one process, cut as its view's lanes say.
class RingHistory final : public HistorySource {
 public:
  RingHistory(std::shared_ptr<const std::string> folder, const ProcessView& view)
      : folder_(std::move(folder)), id_(view.id), lanes_(view.lanes) {}
  std::optional<std::vector<Event>> events() const override {
    const auto memory = open_memory(*folder_, id_.to_string() + ".ring");
    if (!memory || !((*memory)->ring().id() == id_)) return std::nullopt;
    return (*memory)->take(lanes_);
  }

 private:
  std::shared_ptr<const std::string> folder_;
  ProcessId id_;
  std::vector<LaneView> lanes_;
};

// What was read of it is known; the history itself is left where it lies.
void leave_in_file(ProcessView& view, const std::shared_ptr<const std::string>& folder) {
  view.on_disk = std::make_shared<RingHistory>(folder, view);
}

void without_history(ProcessView& view) {
  view.partial |= RF_PARTIAL_HISTORY;
  for (const LaneView& lane : view.lanes) view.history_lost += lane.head;
}

ProcessEnd end_of(const Json& line) {
  ProcessEnd end;
  const std::string kind = line.value("kind", "unknown");
  end.kind = EndKind::kEnded;
  end.time = line.value("time", TimeNs{0});
  end.status_known = kind != "unknown";
  end.by_signal = kind == "signal";
  end.value = line.value("value", 0);
  return end;
}

struct FromJournal {
  TimeNs begin = 0, last = 0;
  int world_size = 0, attempt = 0;
  std::map<ProcessId, ProcessEnd> ends;
  std::map<ProcessId, std::map<uint64_t, std::string>> sites, lines;
  std::vector<ExpectedRank> expected;
};

void take_spawned(const Json& line, FromJournal& j) {
  const int rank = line.value("rank", -1);
  const int attempt = line.value("attempt", j.attempt);
  if (rank >= 0) {
    j.expected.push_back({rank, attempt, true});
    return;
  }
  for (const ExpectedRank& e : j.expected)
    if (e.attempt == attempt) return;  // told by the launcher of another node
  for (int r = 0; r < j.world_size; ++r) j.expected.push_back({r, attempt, true});
}

FromJournal read(const std::vector<Json>& lines) {
  FromJournal j;
  for (const Json& line : lines) {
    const std::string ev = line.value("ev", "");
    j.last = line.value("t", j.last);
    if (ev == "run_begin") {
      j.begin = line.value("t", TimeNs{0});
      j.world_size = line.value("world_size", 0);
    } else if (ev == "attempt_begin") {
      j.attempt = line.value("attempt", 0);
    } else if (ev == "spawned") {
      take_spawned(line, j);
    } else if (ev == "rank_end") {
      if (const auto id = process_id_from(line.value("process", ""))) j.ends[*id] = end_of(line);
    } else if (ev == "look" && line.contains("state")) {
      if (const auto t = state_from_json(line["state"]))
        for (const ProcessView& p : t->processes) {
          j.sites[p.id].insert(p.call_sites.begin(), p.call_sites.end());
          j.lines[p.id].insert(p.source_lines.begin(), p.source_lines.end());
        }
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
    for (; open < views.size() && memories_.size() < kMostOpen; ++open) {
      Opened one = fill(views[open], true);
      if (one.memory) memories_[views[open].id] = std::move(one.memory);
      note(views[open], one);
    }
    std::vector<Opened> others(views.size() - open);
    in_parallel(others.size(), [&](size_t i) { others[i] = fill(views[open + i], false); });
    for (size_t i = 0; i < others.size(); ++i) note(views[open + i], others[i]);
  }
  const std::vector<std::string>& unread() const { return unread_; }

 private:
  struct Opened {
    std::unique_ptr<FlightMemory> memory;  // to be kept
    std::string error;
  };

  // Changes nothing but the view.
  Opened fill(ProcessView& view, bool keep) const {
    if (const auto known = memories_.find(view.id); known != memories_.end()) {
      known->second->fill(view, true);
      return {};
    }
    auto opened = open_memory(*folder_, view.id.to_string() + ".ring");
    if (!opened || !((*opened)->ring().id() == view.id)) {
      without_history(view);
      return {nullptr,
              opened ? view.id.to_string() + ".ring: the record of another process" : opened.error().message};
    }
    if (keep) {
      (*opened)->fill(view, true);
      return {std::move(*opened), ""};
    }
    (*opened)->fill_words(view, true);
    leave_in_file(view, folder_);
    return {};
  }

  void note(const ProcessView& view, const Opened& one) {
    if (!one.error.empty() && missing_.insert(view.id).second) unread_.push_back(one.error);
  }

  static constexpr size_t kMostOpen = 64;  // a process may have 1024 files open, and each has its history
  std::shared_ptr<const std::string> folder_;
  std::map<ProcessId, std::unique_ptr<FlightMemory>> memories_;
  std::set<ProcessId> missing_;
  std::vector<std::string> unread_;
};

RunRecords::RunRecords(const std::string& run_dir) : impl_(std::make_unique<Impl>(records_of(run_dir))) {}
RunRecords::~RunRecords() = default;
const std::vector<std::string>& RunRecords::unread() const { return impl_->unread(); }

Result<Timeline> RunRecords::at_look(const Json& look_line) {
  const auto state = look_line.find("state");
  if (state == look_line.end()) return usage_error("a look without its state");
  Result<Timeline> t = state_from_json(*state);
  if (!t) return t;
  impl_->fill(t->processes);
  return t;
}

Result<Timeline> timeline_from_run(const std::string& run_dir, const Json& look_line) {
  return RunRecords(run_dir).at_look(look_line);
}

namespace {

struct FinalRead {  // neither: killed in its first moments, so it says nothing
  std::optional<ProcessView> view;
  std::optional<Error> error;
};

FinalRead read_final(const std::shared_ptr<const std::string>& folder, const std::string& name,
                     Histories histories) {
  if (RingReader::half_made(*folder + "/" + name)) return {};
  const auto memory = open_memory(*folder, name);
  if (!memory) return {std::nullopt, memory.error()};
  ProcessView view = (*memory)->ring().view();
  if (histories == Histories::kInFiles) {
    (*memory)->fill_words(view, false);
    leave_in_file(view, folder);
  } else {
    (*memory)->fill(view, false);
  }
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
    t.processes.push_back(std::move(view));
  }
  arrange(t);
  return t;
}

}  // namespace rankfault
