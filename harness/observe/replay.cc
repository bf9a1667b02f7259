// replay: Timelines from the files of a run directory: the journal's looks and ends, and the rings.
#include <fmt/format.h>

#include <map>

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
  explicit Impl(std::string folder) : folder_(std::move(folder)) {}
  Result<FlightMemory*> memory(const ProcessId& id) {
    auto& slot = memories_[id];
    if (!slot) {
      auto opened = open_memory(folder_, id.to_string() + ".ring");
      if (!opened) return opened.error();
      slot = std::move(*opened);
    }
    return slot.get();
  }

 private:
  std::string folder_;
  std::map<ProcessId, std::unique_ptr<FlightMemory>> memories_;
};

RunRecords::RunRecords(const std::string& run_dir) : impl_(std::make_unique<Impl>(records_of(run_dir))) {}
RunRecords::~RunRecords() = default;

Result<Timeline> RunRecords::at_look(const Json& look_line) {
  const auto state = look_line.find("state");
  if (state == look_line.end()) return usage_error("a look without its state");
  Result<Timeline> t = state_from_json(*state);
  if (!t) return t;
  for (ProcessView& p : t->processes) {
    const Result<FlightMemory*> memory = impl_->memory(p.id);
    if (!memory) return memory.error();
    (*memory)->fill(p, true);
  }
  return t;
}

Result<Timeline> timeline_from_run(const std::string& run_dir, const Json& look_line) {
  return RunRecords(run_dir).at_look(look_line);
}

Result<Timeline> final_timeline(const std::string& run_dir) {
  const auto lines = read_journal(run_dir + "/journal.ndjson");
  if (!lines) return lines.error();
  FromJournal j = read(*lines);
  Timeline t;
  t.begin = j.begin;
  t.look = j.last;
  t.world_size = j.world_size;
  t.attempt = j.attempt;
  t.expected = std::move(j.expected);
  const std::string folder = records_of(run_dir);
  for (const std::string& name : ring_names_in(folder)) {
    if (RingReader::half_made(folder + "/" + name)) continue;  // killed in its first moments: it says nothing
    auto memory = open_memory(folder, name);
    if (!memory) return memory.error();
    ProcessView view = (*memory)->ring().view();
    (*memory)->fill(view, false);
    if (const auto end = j.ends.find(view.id); end != j.ends.end()) view.end = end->second;
    view.call_sites = std::move(j.sites[view.id]);
    view.source_lines = std::move(j.lines[view.id]);
    t.processes.push_back(std::move(view));
  }
  arrange(t);
  return t;
}

}  // namespace rankfault
