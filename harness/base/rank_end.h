// RankEnd: how a process of the job ended, and which source reports it. rank_end.cc is the only file of the
// harness that decodes a wait status.
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
  kOwnRecord,  // the process wrote it when it exited
  kOurSignal,  // we sent it and saw the process die
  kLauncher,   // its launcher's report
};

struct ExitStatus {
  enum class Kind { kUnknown, kCode, kSignal } kind = Kind::kUnknown;
  int value = 0;

  bool is_signal(int signal) const { return kind == Kind::kSignal && value == signal; }
  bool zero() const { return kind == Kind::kCode && value == 0; }
  bool nonzero() const { return kind == Kind::kSignal || (kind == Kind::kCode && value != 0); }
  std::string to_string() const;  // "exit 1", "SIGKILL", "status unknown"
  static ExitStatus from_wait_status(int status);
};

struct RankEnd {
  ProcessId process;
  int rank = -1;
  int attempt = 0;
  Instant time;      // when we learned of it; not later than its first use
  Instant outlived;  // when it was last seen alive directly after the death of another process; see
                     // ProcessEnd
  ExitStatus status;
  EndSource source = EndSource::kUnknown;
  std::vector<std::string> last_words = {};  // see ProcessEnd
  std::string oom_kill_in = {};              // see ProcessEnd
};

const char* to_text(EndSource);

// What each source says about one process; nullopt: it does not know (yet).
struct EndSources {
  std::optional<ExitStatus> waited, kernel, our_signal, own_record, launcher;
};
struct BestEnd {
  ExitStatus status;
  EndSource source = EndSource::kUnknown;
};
// The first that knows of: waited, kernel, our_signal, own_record, launcher. But a signal that the launcher
// saw takes precedence over an exit that had begun: the process writes its own record before its destructors
// run, and these may abort.
BestEnd best_of(const EndSources&);
// True when two sources cannot both be true of one process: a bug of ours, or of a launcher.
bool contradict(const EndSources&);

// A pidfd of this very process; kRefused when it is gone or its pid belongs to another process now.
Result<UniqueFd> open_process(int pid, uint64_t start);
// By PIDFD_GET_INFO after it was reaped (Linux >= 6.15). nullopt before that, on older kernels, and when
// RANKFAULT_NO_PIDFD_INFO=1.
std::optional<ExitStatus> kernel_exit_status(int pidfd);
// From /proc, of a process that its parent has not reaped: a zombie (a launcher that hangs never reaps it),
// or one that a signal is ending. The latter executes none of its own instructions any more, while the kernel
// takes it down. nullopt: the process is neither, or the tool may not trace it.
std::optional<ExitStatus> unreaped_exit_status(int pid, uint64_t start);
// What the process wrote into its flight record when it exited.
struct OwnExit {
  ExitStatus status;
  Instant time;  // when it began to exit
};
std::optional<OwnExit> own_exit(const std::string& ring_path);

}  // namespace rankfault
