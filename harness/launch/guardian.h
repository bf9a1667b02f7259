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
  std::vector<std::string> argv;  // argv[0] is found on PATH
  std::map<std::string, std::string> env;  // the whole environment
  std::string cwd;
  std::string stdout_path, stderr_path;  // equal: one file
};

struct GuardianEvent {
  enum class Kind { kSpawned, kRefused, kEnded, kAllGone, kCensusDone, kUndone, kLost } kind;
  uint32_t tag = 0;
  int pid = 0;
  uint64_t start = 0;
  int a = 0, b = 0;  // kEnded: a is the wait status; kRefused: errno
  TimeNs time = 0;
  std::string text;
};

class Guardian {
 public:
  static Result<Guardian> start(const RunDir&);
  Guardian(Guardian&&) noexcept;
  ~Guardian();  // closes the socket: the guardian then ends everything that is left

  int fd() const { return socket_.get(); }  // readable when next() has something
  int pid() const { return pid_; }
  Status spawn(uint32_t tag, const Command&);
  Status kill_all(int first_signal, Duration grace);
  Status census();
  // One event, without blocking; nullopt when there is none.
  std::optional<GuardianEvent> next();
  // kill all, undo, wait for its end (bounded); the lines it could not undo.
  Result<std::vector<std::string>> quit();

 private:
  Guardian(UniqueFd socket, int pid) : socket_(std::move(socket)), pid_(pid) {}
  UniqueFd socket_;
  int pid_ = 0;
};

// Is `pid` (with this start time) a descendant of `guardian_pid` now? Nothing else is ever signalled.
bool descends_from(int pid, uint64_t start, int guardian_pid);

}  // namespace rankfault
