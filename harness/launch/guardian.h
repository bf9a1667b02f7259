// Guardian: the tool's side of the small process that is the ancestor of every process of a job.
//
// It reaps all descendants, tells their ends, and when the tool dies ends every one of them and
// undoes what the run did to the host. One per run. Not thread safe: belongs to the run's loop.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"
#include "harness/launch/guardian_protocol.h"
#include "harness/run/run_dir.h"

namespace rankfault {

struct Command {
  std::vector<std::string> argv;           // argv[0] is found on the PATH of env
  std::map<std::string, std::string> env;  // the whole environment
  std::string cwd;                         // "": the tool's own
  std::string stdout_path, stderr_path;    // equal: one file; both are appended to
};

struct GuardianEvent {
  enum class Kind { kSpawned, kRefused, kEnded, kAllGone, kCensusDone, kUndone, kLost } kind = Kind::kLost;
  uint32_t tag = 0;
  int pid = 0;
  uint64_t start = 0;
  int a = 0, b = 0;  // kEnded: a is the wait status; kRefused: errno
  TimeNs time = 0;
  std::string text;  // kRefused: what was tried; kUndone: lines
};

class Guardian {
 public:
  // `shm_bytes` not 0: with a /dev/shm of its own of that size; own_shm() says beforehand whether it may.
  static Result<Guardian> start(const RunDir&, int64_t shm_bytes = 0);
  Guardian(Guardian&&) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  // Closes the socket, so that the guardian ends everything that is left, and waits for it (bounded).
  ~Guardian();

  int fd() const { return socket_.get(); }  // readable when next() has something
  int pid() const { return pid_; }
  Status spawn(uint32_t tag, const Command&);
  // One kAllGone follows when nothing is left. first_signal 0: SIGKILL at once.
  Status kill_all(int first_signal, Duration grace);
  Status census();
  // One event, without blocking; nullopt when there is none. kLost once, when the guardian is gone.
  std::optional<GuardianEvent> next();
  // kill all, undo, wait for its end (bounded); the lines it could not undo. Events not yet taken
  // are dropped, unless `seen` takes them.
  Result<std::vector<std::string>> quit(const std::function<void(const GuardianEvent&)>& seen = {});

 private:
  Guardian(UniqueFd socket, int pid) : socket_(std::move(socket)), pid_(pid) {}
  Status send(const rf_guardian_packet&, const std::string& texts);
  // Blocks until an event of `kind`, or the guardian's loss, or the limit.
  std::optional<GuardianEvent> wait_for(GuardianEvent::Kind kind, Duration limit,
                                        const std::function<void(const GuardianEvent&)>& seen);
  UniqueFd socket_;
  int pid_ = 0;
  bool lost_ = false;
};

// kMissing with the reason where this process may not give a job a /dev/shm of its own.
Status own_shm();

// $RANKFAULT_GUARDIAN, else beside the tool's own executable; "" when it is in neither place.
std::string find_guardian();

// Is `pid` (with this start time) a descendant of `guardian_pid` now? Nothing else is ever signalled.
bool descends_from(int pid, uint64_t start, int guardian_pid);

}  // namespace rankfault
