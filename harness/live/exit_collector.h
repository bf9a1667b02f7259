// ExitCollector: learns from all sources how each process of the job ended, and journals each end once.
//
// A death is certain at once. Its status may come a little later, because the kernel reports it only after
// the parent has reaped the process. So ExitCollector holds an end back until the status is known, for
// kStatusWait at most.
#pragma once

#include <poll.h>

#include <map>
#include <string>
#include <vector>

#include "harness/base/process_id.h"
#include "harness/base/rank_end.h"
#include "harness/base/unique_fd.h"
#include "harness/inject/injector.h"
#include "harness/journal/journal.h"
#include "harness/launch/launcher.h"
#include "harness/live/death_watch.h"
#include "harness/live/oom_kills.h"

namespace rankfault {

class ExitCollector {
 public:
  // `injector`: null where rankfault injects nothing.
  ExitCollector(Journal& journal, const Injector* injector, std::string records, Promptness& promptness)
      : journal_(journal), injector_(injector), records_(std::move(records)), deaths_(promptness) {}

  // Starts watching a process that announced itself; also called again when its rank changed. The end of a
  // `quiet` process is collected but not journaled, unless the process is watched again without `quiet`.
  void watch(const ProcessId&, int rank, int attempt, bool quiet = false);
  void forget(const ProcessId&);
  bool knows(int pid, uint64_t start) const;
  void reaped(int pid, uint64_t start, const ExitStatus&, Instant);  // by the guardian
  void reported(const ReportedEnd&);                                 // by the launcher's own output

  void add_polls(std::vector<pollfd>&) const;
  // Checks which watched processes are gone and which statuses are known. Returns the ends that are final
  // enough to be used; these are already journaled. Call after each poll.
  std::vector<RankEnd> collect();

  bool waiting() const;                     // an end is held back: poll again soon
  Instant all_gone_since(int ranks) const;  // the time of the last end, if at least `ranks` ranks were seen
                                            // and all are gone
  bool settled() const;                     // every watched process is gone, with a known status

 private:
  struct Watched {
    RankEnd end;
    UniqueFd pidfd;
    EndSources sources;
    std::string error_file;  // see harness/launch/error_file.h
    Instant gone;            // when it was seen dead
    uint64_t token = 0;      // the token under which deaths_ watches it; 0: it cannot be watched
    bool told = false;
    bool quiet = false, journaled = false;
  };
  void begin_watch(Watched&, const ProcessId&);
  std::string record_of(const ProcessId&) const;
  uint64_t watch_death(int pidfd, const ProcessId&);
  void take_deaths();
  Instant killed_by_us(const ProcessId&) const;
  bool refresh(Watched&);
  void journal(Watched&);

  Journal& journal_;
  std::optional<SentSignal> signal_sent(const ProcessId&) const;

  const Injector* injector_;
  std::string records_;
  std::map<ProcessId, Watched> watched_;
  DeathWatch deaths_;
  uint64_t last_token_ = 0;
  OomKills oom_kills_;
  std::map<std::pair<int, uint64_t>, ExitStatus> reaped_early_;  // reaped before it was watched
};

}  // namespace rankfault
