// observer: see observer.h.
#include "harness/observe/observer.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/base/process_tree.h"
#include "harness/observe/call_site.h"
#include "harness/observe/flight_memory.h"
#include "harness/observe/proc.h"
#include "harness/observe/record_names.h"
#include "harness/observe/same_words.h"

namespace rankfault {
namespace {

struct Watched {
  FlightMemory memory;
  CallSites sites;
  ProcessView view;  // at the last scan
  CpuWatch cpu;
  uint32_t modules = 0;
  bool maps_read = false;
};

class RingObserver final : public Observer {
 public:
  RingObserver(std::vector<std::string> folders, TimeNs begin)
      : folders_(std::move(folders)), begin_(begin) {}

  std::vector<ProcessId> scan() override;
  void drain() override;
  void set_end(const RankEnd&) override;
  void set_expected(std::vector<ExpectedRank> expected, int world_size, int attempt) override {
    expected_ = std::move(expected);
    world_size_ = world_size;
    attempt_ = attempt;
  }
  uint64_t activity() override;
  const ProcessView* process(const ProcessId& id) override {
    const auto it = watched_.find(id);
    return it == watched_.end() ? nullptr : &it->second.view;
  }
  Timeline look(bool with_proc) override;

 private:
  void open_new();
  void drain(Watched&);
  void finish(Timeline&) const;

  std::vector<std::string> folders_;
  TimeNs begin_;
  Places places_;
  std::set<std::string> opened_;
  std::map<ProcessId, Watched> watched_;
  std::map<ProcessId, ProcessEnd> ends_;
  std::vector<ExpectedRank> expected_;
  int world_size_ = 0;
  int attempt_ = 0;
};

void RingObserver::open_new() {
  for (const std::string& folder : folders_)
    for (const std::string& name : ring_names_in(folder)) {
      const std::string path = folder + "/" + name;
      if (opened_.count(path)) continue;
      auto ring = RingReader::open(path);
      if (!ring) continue;  // not whole yet, or not ours: looked at again at the next scan
      const ProcessId id = (*ring)->id();
      opened_.insert(path);
      watched_.try_emplace(id, Watched{FlightMemory(std::move(*ring), folder, true), {}, {}, {}, 0, false});
    }
}

std::vector<ProcessId> RingObserver::scan() {
  open_new();
  std::vector<ProcessId> changed;
  for (auto& [id, w] : watched_) {
    ProcessView now = w.memory.ring().view();
    if (!w.maps_read || now.rank != w.view.rank || now.stage != w.view.stage ||
        now.attempt != w.view.attempt || now.generation != w.view.generation)
      changed.push_back(id);
    w.view = std::move(now);
    const uint32_t modules = w.memory.ring().modules_version();
    if (!w.maps_read || modules != w.modules) w.sites.read_maps(id.pid);
    w.maps_read = true;
    w.modules = modules;
  }
  return changed;
}

void RingObserver::drain(Watched& w) {
  bool read_again = false;
  const auto see = [&](uint64_t address) {
    if (w.sites.add(address, places_) || read_again) return;
    read_again = true;  // a library loaded since: at most one more reading of the maps a drain
    w.sites.read_maps(w.memory.ring().id().pid);
    w.sites.add(address, places_);
  };
  const size_t from = w.memory.drain();
  const std::vector<Event>& events = w.memory.events();
  for (size_t i = from; i < events.size(); ++i)
    if (events[i].record.phase == RF_PHASE_ENTER) see(events[i].record.where);
}

void RingObserver::drain() {
  for (auto& [id, w] : watched_) drain(w);
}

void RingObserver::set_end(const RankEnd& end) {
  ProcessEnd e;
  e.kind = EndKind::kEnded;
  e.time = end.time;
  e.status_known = end.status.kind != ExitStatus::Kind::kUnknown;
  e.by_signal = end.status.kind == ExitStatus::Kind::kSignal;
  e.value = end.status.value;
  ends_[end.process] = e;
}

uint64_t RingObserver::activity() {
  uint64_t digest = rf_hash_text("activity");
  for (auto& [id, w] : watched_) {
    const uint64_t one = w.memory.ring().activity();
    digest = rf_hash_bytes(digest, &one, sizeof one);
  }
  const uint64_t counts[2] = {watched_.size(), ends_.size()};
  return rf_hash_bytes(digest, counts, sizeof counts);
}

Timeline RingObserver::look(bool with_proc) {
  Timeline t;
  t.begin = begin_;
  std::map<ProcessId, ProcessView> first;
  for (auto& [id, w] : watched_) first[id] = w.memory.ring().view();
  drain();
  t.look = now_ns();
  for (auto& [id, w] : watched_) {
    ProcessView view = w.memory.ring().view();
    view.stable = view.stable && first[id].stable && same_words(view, first[id]);
    t.consistent = t.consistent && view.stable;
    if (const auto end = ends_.find(id); end != ends_.end()) view.end = end->second;
    w.memory.fill(view, false);
    view.call_sites = w.sites.all();
    view.source_lines = w.sites.source_lines();
    if (with_proc && view.end.kind == EndKind::kAlive) {
      read_proc_states(view);
      w.cpu.read(view, t.look);
    }
    t.processes.push_back(std::move(view));
  }
  finish(t);
  return t;
}

void RingObserver::finish(Timeline& t) const {
  t.expected = expected_;
  t.world_size = world_size_;
  t.attempt = attempt_;
  arrange(t);
}

// The first attempt has as many ranks as were asked for. A later one of an elastic job has as many as it
// says.
void take_world_size(Timeline& t) {
  int claimed = 0;
  for (const ProcessView& p : t.processes)
    if (p.attempt == t.attempt) claimed = std::max(claimed, p.world_size);
  t.world_size = t.attempt > 0 && claimed > 0 ? claimed : std::max(t.world_size, claimed);
  std::erase_if(t.expected,
                [&](const ExpectedRank& e) { return e.attempt == t.attempt && e.rank >= t.world_size; });
}

}  // namespace

void arrange(Timeline& t) {
  // A process that called exec lives on as its next image; one without a rank is nobody's.
  std::set<ProcessId> newest;
  std::map<std::tuple<uint64_t, uint64_t, int, uint64_t>, int> image;
  for (const ProcessView& p : t.processes) {
    int& i = image[{p.id.host, p.id.pid_ns, p.id.pid, p.id.start}];
    i = std::max(i, p.id.image);
  }
  std::erase_if(t.processes, [&](const ProcessView& p) {
    return p.rank < 0 || p.id.image != image[{p.id.host, p.id.pid_ns, p.id.pid, p.id.start}];
  });
  std::sort(t.processes.begin(), t.processes.end(), [](const ProcessView& a, const ProcessView& b) {
    return std::tie(a.attempt, a.rank, a.id) < std::tie(b.attempt, b.rank, b.id);
  });
  t.job_over = !t.processes.empty();
  for (const ProcessView& p : t.processes) t.attempt = std::max(t.attempt, p.attempt);
  take_world_size(t);
  for (const ProcessView& p : t.processes)
    if (p.attempt == t.attempt && p.end.kind == EndKind::kAlive) t.job_over = false;
}

std::unique_ptr<Observer> make_observer(std::vector<std::string> record_folders, TimeNs run_begin) {
  return std::make_unique<RingObserver>(std::move(record_folders), run_begin);
}

}  // namespace rankfault
