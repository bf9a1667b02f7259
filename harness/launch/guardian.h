// Guardian: the tool's side of the small process that is the ancestor of every process of a job. The guardian
// process reaps all descendants and reports their ends. When the tool dies, it ends every descendant and
// undoes what the run did to the host. One per run. Not thread safe: belongs to the run's loop.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"
#include "harness/launch/guardian_protocol.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

struct Command {
  std::vector<std::string> argv;           // argv[0] is found on the PATH of env
  std::map<std::string, std::string> env;  // the whole environment
  std::string cwd;                         // "": the tool's own
  std::string stdout_path, stderr_path;    // equal: one file; both are appended to
};

struct SmallFolder {  // a file system of its own
  std::string path;   // /dev/shm, or below the job's TMPDIR
  int64_t bytes = 0;
  std::string fault{};  // the fault that asked for it
};

struct GuardianEvent {
  enum class Kind { kSpawned, kRefused, kEnded, kAllGone, kCensusDone, kUndone, kLoaded, kLost };
  Kind kind = Kind::kLost;
  uint32_t tag = 0;
  int pid = 0;
  uint64_t start = 0;
  int a = 0, b = 0;  // kEnded: a is the wait status; kRefused: errno; kLoaded: busy processes, errno
  Instant time;
  std::string text;  // kRefused: what was tried; kUndone: lines
};

// The result of an undo list.
struct Undone {
  std::vector<std::string> failed;  // what could not be undone, a line each
  std::vector<std::string> left;    // files of the job that stay, by their paths
};

// Reads the lines of a guardian: "failed TEXT", "left PATH".
Undone read_undone(const std::string& lines);

enum class JobEnd { kEndIt, kEndedByItself };  // the latter: nothing of the job is ended or removed

class Guardian {
 public:
  // The folders are mounted for the job alone; call may_mount() first to see whether that is allowed.
  static Result<Guardian> start(const RunDir&, const std::vector<SmallFolder>& = {});
  Guardian(Guardian&&) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  // Closes the socket, so that the guardian ends everything that is left, and waits for it (bounded).
  ~Guardian();

  int fd() const { return socket_.get(); }  // readable when next() has something
  int pid() const { return pid_; }
  Status spawn(uint32_t tag, const Command&);
  // One kAllGone follows when nothing is left. first_signal 0: SIGKILL at once.
  Status kill_all(int first_signal, Duration grace);
  // Makes the guardian look at the job's files, and waits for it, `limit` at most. Events that arrive
  // meanwhile are kept for next(): fd() does not become readable for them, so take the events afterwards.
  Status census(Duration limit);
  // Starts `per_core` busy processes on each core that `pid` may use; kLoaded follows. 0: ends those of the
  // tag, or all for tag 0. They also end with the guardian.
  Status load(uint32_t tag, int pid, int per_core);
  Status unload();  // ends all of them and waits for their end
  // One event, without blocking; nullopt when there is none. Returns kLost once, when the guardian is gone.
  std::optional<GuardianEvent> next();
  // Signals every process of the job and waits until all are gone; after `grace` SIGKILL.
  Status end_all(int first_signal, Duration grace);
  // Ends what is left of the job, undoes, and waits for the guardian's end (bounded). Drops the
  // events that were not taken yet. `says` gets a sentence, once, when the guardian takes long.
  Result<Undone> quit(JobEnd = JobEnd::kEndIt, const std::function<void(const std::string&)>& says = {});
  // Continues the guardian if a SIGSTOP stopped it, because the job waits for it.
  void continue_if_stopped();
  int times_stopped() const { return times_stopped_; }

 private:
  Guardian(UniqueFd socket, int pid) : socket_(std::move(socket)), pid_(pid) {}
  Status send(const rf_guardian_packet&, const std::string& texts);
  std::optional<GuardianEvent> receive();
  // Blocks until an event of `kind`, the guardian's loss, or the limit.
  std::optional<GuardianEvent> wait_for(GuardianEvent::Kind kind, Duration limit,
                                        const std::function<void(const std::string&)>& says = {});
  UniqueFd socket_;
  int pid_ = 0;
  bool lost_ = false;
  int times_stopped_ = 0;
  uint32_t censuses_ = 0;
  std::string lines_;                // of an RF_G_UNDONE to come
  std::deque<GuardianEvent> early_;  // arrived during the wait for a census
};

// kMissing, with the reason, when this process may not give a job small file systems of its own.
Status may_mount();

// $RANKFAULT_GUARDIAN, else beside the tool's own executable; "" when it is in neither place.
std::string find_guardian();

// True if `pid` (with this start time) is a descendant of `guardian_pid` now. The tool signals no other
// process.
bool descends_from(int pid, uint64_t start, int guardian_pid);

}  // namespace rankfault
