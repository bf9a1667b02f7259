#include "harness/observe/observer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "harness/observe/arrange.h"
#include "harness/observe/bystanders.h"
#include "harness/observe/call_site.h"
#include "harness/observe/flight_memory.h"
#include "harness/observe/proc.h"
#include "harness/observe/record_names.h"
#include "harness/observe/snapshot_equality.h"

namespace rankfault {
namespace {

struct Watched {
  Watched(FlightMemory m, std::string f)
      : memory(std::move(m)), folder(std::move(f)), sites(memory.ring().path()) {}
  FlightMemory memory;
  std::string folder;
  CallSites sites;
  ProcessView view;  // when its claim last changed
  CpuWatch cpu;
  StopWatch stops;
  uint64_t claim = 0;
  uint32_t modules = 0;
  bool is_new = true, took_part = false;
};

class RingObserver final : public Observer {
 public:
  RingObserver(const std::vector<std::string>& folders, Instant begin, uint64_t window)
      : folders_(folders.begin(), folders.end()), begin_(begin), window_(window) {}

  std::vector<ProcessId> scan() override;
  std::vector<ProcessId> take_forgotten() override { return std::exchange(forgotten_, {}); }
  bool is_bystander(const ProcessId& id) const override { return bystanders_.is_one(id); }
  void drain() override { drain(false); }
  void set_end(const RankEnd&) override;
  void set_expected(std::vector<ExpectedRank> expected, int world_size, int attempt) override {
    expected_ = std::move(expected);
    world_size_ = world_size;
    attempt_ = attempt;
  }
  void set_launcher_ends_all(bool ends_all) override { launcher_ends_all_ = ends_all; }
  void set_job_status(JobStatus end) override { job_status_ = end; }
  uint64_t activity() override;
  const ProcessView* process(const ProcessId& id) override {
    const auto it = watched_.find(id);
    return it == watched_.end() ? nullptr : &it->second.view;
  }
  std::string python_of(const ProcessId& id) const override {
    const auto it = watched_.find(id);
    return it == watched_.end() ? "" : it->second.memory.ring().python();
  }
  Timeline look(bool with_proc, uint64_t calls) override;
  void save(const Timeline&) override;
  void save_around_now() override;
  void set_remote(RemoteProcesses* remote) override { remote_ = remote; }
  Losses losses() const override;

 private:
  void open_new();
  void take_claim(const ProcessId&, const Watched&);
  void forget_bystanders();
  void drain(bool all);
  void save_some(size_t most);
  bool completed_by_all(uint64_t comm_id, uint64_t seq) const;
  void finish(Timeline&) const;
  std::string maps_of(const ProcessId&) const;
  void read_proc(Watched&, ProcessView&, Instant look);

  std::vector<RecordFolder> folders_;
  Instant begin_;
  uint64_t window_;
  SeenFiles seen_;

  Places places_;
  std::set<std::string> opened_;
  std::map<ProcessId, Watched> watched_;
  std::map<ProcessId, ProcessEnd> ends_;
  Bystanders bystanders_;
  bool claims_changed_ = false;
  std::vector<ProcessId> forgotten_;
  std::deque<ProcessId> to_save_;  // a fault fired
  std::vector<ExpectedRank> expected_;
  int world_size_ = 0;
  int attempt_ = 0;
  bool launcher_ends_all_ = false;
  JobStatus job_status_ = JobStatus::kRunning;
  RemoteProcesses* remote_ = nullptr;
};

std::string RingObserver::maps_of(const ProcessId& id) const {
  const std::string copy = remote_ ? remote_->maps_of(id) : "";
  return copy.empty() ? fmt::format("/proc/{}/maps", id.pid) : copy;
}

void RingObserver::open_new() {
  for (RecordFolder& folder : folders_)
    for (const std::string& name : folder.rings()) {
      const std::string path = folder.path() + "/" + name;
      if (opened_.count(path)) continue;
      auto ring = RingReader::open(path);
      if (!ring) {  // not whole yet, or not ours, or we have no descriptor left
        folder.look_again();
        continue;
      }
      const ProcessId id = (*ring)->id();
      opened_.insert(path);
      watched_.try_emplace(id, FlightMemory(std::move(*ring), folder.path(), window_), folder.path());
    }
}

// A bystander that is already over when it is found marks itself as over, and is never reported.
void RingObserver::take_claim(const ProcessId& id, const Watched& w) {
  const RingReader& ring = w.memory.ring();
  RankClaim claim{id, w.view.rank, w.view.attempt, ring.rank_source(), w.view.opened, w.took_part, {}};
  if (const auto end = ends_.find(id); end != ends_.end())
    claim.end = end->second;
  else if (const auto own = ring.own_exit())
    claim.end = {EndKind::kEnded, own->time, true, false, own->status};
  bystanders_.take(claim);
  claims_changed_ = true;
}

std::vector<ProcessId> RingObserver::scan() {
  open_new();
  std::vector<ProcessId> changed;
  for (auto& [id, w] : watched_) {
    const RingReader& ring = w.memory.ring();
    const uint64_t claim = ring.claim();
    const bool took_part = w.took_part || ring.made_calls();
    const uint32_t modules = ring.modules_version();
    if (w.is_new || modules != w.modules) w.sites.modules_changed(maps_of(id));
    w.modules = modules;
    if (!w.is_new && claim == w.claim && took_part == w.took_part) continue;
    if (w.is_new || claim != w.claim) changed.push_back(id);
    w.view = ring.view();
    w.is_new = false;
    w.claim = claim;
    w.took_part = took_part || w.view.stage >= RF_STAGE_MEMBER;
    take_claim(id, w);
  }
  forget_bystanders();
  std::erase_if(changed, [&](const ProcessId& id) { return !watched_.count(id); });
  return changed;
}

void RingObserver::forget_bystanders() {
  if (!std::exchange(claims_changed_, false)) return;
  for (const ProcessId& id : bystanders_.forgettable()) {
    const std::string path = watched_.at(id).memory.ring().path();
    ::unlink(path.c_str());
    ::unlink(PythonFrames(path).path().c_str());
    opened_.erase(path);
    bystanders_.forget(id);
    watched_.erase(id);
    ends_.erase(id);
    forgotten_.push_back(id);
  }
}

void RingObserver::drain(bool all) {
  for (auto& [id, w] : watched_) {
    bool read_again = false;
    uint64_t last = 0;
    const auto see = [&](uint64_t address) {
      if (address == last) return;
      last = address;
      if (w.sites.add(address, places_)) return;
      if (!std::exchange(read_again, true))  // a library was loaded since: at most one more reading in a
                                             // drain
        w.sites.read_maps(maps_of(w.memory.ring().id()));
      if (!w.sites.add(address, places_)) w.sites.is_nowhere(address);
    };
    const auto complete = [&](uint32_t comm, uint64_t seq) {
      return completed_by_all(w.memory.ring().comm_id(comm), seq);
    };
    w.memory.drain(all, complete, see);
  }
  constexpr size_t kSavedInADrain = 4;
  if (!all) save_some(kSavedInADrain);  // a look is waiting
}

// Called only when a window is full. A member that has ended completes nothing more. The others may wait for
// it, and then stop soon.
bool RingObserver::completed_by_all(uint64_t comm_id, uint64_t seq) const {
  if (comm_id == 0) return true;
  return std::all_of(watched_.begin(), watched_.end(), [&](const auto& entry) {
    const std::optional<uint64_t> completed = entry.second.memory.ring().completed_on(comm_id);
    return !completed || *completed >= seq;
  });
}

void RingObserver::set_end(const RankEnd& end) {
  ProcessEnd e;
  e.kind = EndKind::kEnded;
  e.time = end.time;
  e.outlived = end.outlived;
  e.last_words = end.last_words;
  e.oom_kill_in = end.oom_kill_in;
  e.status_known = end.status.kind != ExitStatus::Kind::kUnknown;
  e.by_signal = end.status.kind == ExitStatus::Kind::kSignal;
  e.value = end.status.value;
  ends_[end.process] = e;
  if (const auto w = watched_.find(end.process); w != watched_.end()) take_claim(end.process, w->second);
}

uint64_t RingObserver::activity() {
  uint64_t digest = rf_hash_text("activity");
  uint64_t counts[2] = {0, 0};
  for (auto& [id, w] : watched_) {
    if (bystanders_.is_one(id))
      continue;  // programs that come and go beside the ranks do not count as
                 // activity
    const uint64_t one = w.memory.ring().activity();
    digest = rf_hash_bytes(digest, &one, sizeof one);
    ++counts[0];
  }
  for (const auto& [id, end] : ends_) counts[1] += !bystanders_.is_one(id);
  return rf_hash_bytes(digest, counts, sizeof counts);
}

Timeline RingObserver::look(bool with_proc, uint64_t calls) {
  Timeline t;
  t.begin = begin_;
  std::map<ProcessId, ProcessView> first;
  for (auto& [id, w] : watched_) first[id] = w.memory.ring().view();
  if (remote_) remote_->renew();
  drain(true);
  t.look = HostClock::now();
  for (auto& [id, w] : watched_) {
    if (bystanders_.is_over(id)) continue;
    ProcessView view = w.memory.ring().view();
    view.stable = view.stable && first[id].stable && same_words(view, first[id]);
    const bool is_remote = remote_ && remote_->describe(view);
    t.consistent = t.consistent && (view.stable || is_known(view.unheard_since));
    if (const auto end = ends_.find(id); end != ends_.end()) view.end = end->second;
    w.memory.show(view, calls);
    view.call_sites = w.sites.all();
    view.source_lines = w.sites.source_lines();
    if (with_proc && !is_remote) read_proc(w, view, t.look);
    if (with_proc) w.stops.read(view, t.look);
    t.processes.push_back(std::move(view));
  }
  finish(t);
  return t;
}

void RingObserver::read_proc(Watched& w, ProcessView& view, Instant look) {
  if (view.end.kind != EndKind::kAlive) return;
  read_proc_states(view);
  w.cpu.read(view, look);
}

void RingObserver::save(const Timeline& t) {
  save_some(to_save_.size());
  for (const ProcessView& p : t.processes)
    if (const auto w = watched_.find(p.id); w != watched_.end())
      FlightMemory::save(p, w->second.folder, seen_);
}

void RingObserver::save_around_now() {
  const std::set<ProcessId> waiting(to_save_.begin(), to_save_.end());
  for (const auto& [id, w] : watched_)
    if (!waiting.count(id)) to_save_.push_back(id);  // a process that waits already keeps its place
}

// Saving makes a file for each process. Making 64 takes tens of milliseconds, for which a gate or a death
// would wait. The windows hold the records for much longer than a few drains take.
void RingObserver::save_some(size_t most) {
  constexpr uint64_t kBefore = 1000;  // calls
  for (; most > 0 && !to_save_.empty(); --most, to_save_.pop_front())
    if (const auto at = watched_.find(to_save_.front()); at != watched_.end())
      at->second.memory.save_around(kBefore, kWindowCalls, seen_);
}

Observer::Losses RingObserver::losses() const {
  Losses all{0, 0, seen_.removed()};
  for (const auto& [id, w] : watched_) {
    all.let_go += w.memory.let_go();
    all.overwritten += w.memory.overwritten();
  }
  return all;
}

void RingObserver::finish(Timeline& t) const {
  t.expected = expected_;
  t.world_size = world_size_;
  t.attempt = attempt_;
  t.launcher_ends_all = launcher_ends_all_;
  t.job_status = job_status_;
  arrange(t);
}

}  // namespace

std::unique_ptr<Observer> make_observer(std::vector<std::string> record_folders, Instant run_begin,
                                        uint64_t window) {
  return std::make_unique<RingObserver>(record_folders, run_begin, window);
}

}  // namespace rankfault
