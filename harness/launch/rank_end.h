// RankEnd: how a process of the job ended, and who says so. The only file of the harness that
// looks inside a wait status is rank_end.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/process_id.h"
#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

enum class EndSource {
  kUnknown,    // died, status unknown
  kWaited,     // the guardian reaped it
  kKernel,     // PIDFD_GET_INFO
  kOwnRecord,  // the process wrote it on its way out
  kOurSignal,  // we sent it and saw it die
  kLauncher,   // its launcher's report
};

struct ExitStatus {
  enum class Kind { kUnknown, kCode, kSignal } kind = Kind::kUnknown;
  int value = 0;

  bool zero() const { return kind == Kind::kCode && value == 0; }
  bool nonzero() const { return kind == Kind::kSignal || (kind == Kind::kCode && value != 0); }
  std::string to_string() const;  // "exit 1", "SIGKILL", "status unknown"
  static ExitStatus from_wait_status(int status);
};

struct RankEnd {
  ProcessId process;
  int rank = -1;
  int attempt = 0;
  TimeNs time = 0;      // when we knew; not later than the first use of it
  TimeNs outlived = 0;  // when it was last seen alive right after another one died; see ProcessEnd
  ExitStatus status;
  EndSource source = EndSource::kUnknown;
  std::vector<std::string> last_words = {};  // see ProcessEnd
};

const char* to_text(EndSource);

// What each source says of one process; nullopt: it does not know (yet).
struct EndSources {
  std::optional<ExitStatus> waited, kernel, our_signal, own_record, launcher;
};
struct BestEnd {
  ExitStatus status;
  EndSource source = EndSource::kUnknown;
};
// waited, kernel, our_signal, own_record, launcher: the first that knows. But a signal that the launcher
// saw overtakes an exit that had begun: the own record is written before destructors run, which may abort.
BestEnd best_of(const EndSources&);
// Two sources that cannot both be true of one process: a bug of ours, or of a launcher.
bool contradict(const EndSources&);

// A pidfd of this very process; kRefused when it is gone or the pid belongs to another one now.
Result<UniqueFd> open_process(int pid, uint64_t start);
// By PIDFD_GET_INFO once it was reaped (Linux >= 6.15); nullopt before, elsewhere, and when
// RANKFAULT_NO_PIDFD_INFO=1.
std::optional<ExitStatus> kernel_exit_status(int pidfd);
// Of a zombie, whose parent has not reaped it (a launcher that hangs never does); nullopt: it is none.
std::optional<ExitStatus> zombie_exit_status(int pid, uint64_t start);
// Of a process that a signal is ending or has ended, and that its parent has not reaped. It executes none of
// its own instructions any more, while the kernel takes it down. nullopt: it is none, or we may not trace it.
std::optional<ExitStatus> signal_that_ends(int pid, uint64_t start);
// What the process wrote into its flight record on its way out.
struct OwnExit {
  ExitStatus status;
  TimeNs time = 0;  // when it began to exit
};
std::optional<OwnExit> own_exit(const std::string& ring_path);

}  // namespace rankfault
