// AttemptLoop: everything that happens while one attempt of the job runs. It answers gates, reads records,
// notices ends and takes looks. One thread, one poll.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "harness/inject/doorbell.h"
#include "harness/inject/injector.h"
#include "harness/launch/guardian.h"
#include "harness/launch/launcher.h"
#include "harness/live/diagnosis_loop.h"
#include "harness/live/exit_collector.h"
#include "harness/live/host_objects.h"
#include "harness/live/promptness.h"
#include "harness/live/rank_view.h"
#include "harness/live/starvation.h"
#include "harness/nodes/remote_nodes.h"
#include "harness/observe/observer.h"

namespace rankfault {

enum class AttemptEnd { kOver, kWall, kDecided, kInterrupted, kGuardianLost };
const char* to_text(AttemptEnd);  // the word in the journal: over, wall, decided, interrupted, guardian_lost

struct LiveParts {  // run_scenario owns them; all outlive the loop
  Guardian& guardian;
  Observer& observer;
  Injector& injector;
  Doorbell& doorbell;
  Promptness& promptness;
  Journal& journal;
  ExitCollector& ends;
  DiagnosisLoop& looks;
  HostObjects& host;
  UndoList* undo;                  // null in a watched job, from which the tool removes nothing
  const RankView* view = nullptr;  // null: nobody follows the ranks
  RemoteNodes* nodes = nullptr;    // null: all ranks are on this host
};

class AttemptLoop {
 public:
  AttemptLoop(LiveParts parts, int attempt, int world_size, Instant wall_end, bool restarts_ranks)
      : parts_(parts),
        restarts_ranks_(restarts_ranks),
        starvation_(parts.journal),
        attempt_(attempt),
        newest_(attempt),
        world_size_(world_size),
        wall_end_(wall_end) {}

  // Starts the items. Returns when all of them have ended, when `wall_end` has passed, when `decided` (called
  // now and then) says that nothing can change any more, or when the user has interrupted.
  Result<AttemptEnd> run(const std::vector<LaunchItem>& items, const std::function<bool()>& decided,
                         const std::atomic<int>* interrupted);

  // True when no started process lives: the job has ended by itself.
  bool all_ended() const;
  JobStatus job_status() const;
  ExitStatus worst() const { return worst_; }  // of the started commands: the first status that is not zero

 private:
  struct Started {
    LaunchItem item;
    int pid = 0;
    uint64_t start = 0;
    bool ended = false;
    Json environment;  // its watched variables when it was started; null when none are watched
  };

  Result<AttemptEnd> run_to_end(const std::function<bool()>& decided, const std::atomic<int>* interrupted);
  Status spawn(const std::vector<LaunchItem>&);
  Status spawn_late(Instant now);  // the items that a fault delays
  void wait_until(Instant);
  Status settle();
  Status guardian_events();
  void scan();
  void save_around_faults();
  void show_ranks(Instant now);
  void take_ends();
  void serve_nodes(Instant now);
  void watch_end(const ProcessId&, const ProcessView&, bool quiet);
  void journal_process(const ProcessId&);
  void journal_bystanders();
  Json environment_of(const ProcessId&);  // its watched variables; null when none are watched
  void expect_ranks();
  bool launcher_hangs(Instant now);

  LiveParts parts_;
  bool restarts_ranks_;
  Starvation starvation_;
  int attempt_, newest_, world_size_;
  Instant wall_end_;
  Instant next_scan_, next_decided_, next_guardian_look_, next_view_;
  uint64_t fired_ = 0;                   // number of faults that fired so far
  std::map<uint32_t, Started> started_;  // by tag
  std::vector<uint32_t> late_;           // tags of the items that are not started yet
  Instant first_spawned_;
  std::map<ProcessId, std::string> journaled_;  // the last journal line of each process
  std::map<ProcessId, Json> environments_;
  std::set<ProcessId> bystanders_;  // neither journaled nor forgotten yet
  ExitStatus worst_{ExitStatus::Kind::kCode, 0};
  bool guardian_lost_ = false;
};

}  // namespace rankfault
