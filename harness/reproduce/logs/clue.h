// Clue: what one message of a log says about a job. A clue repeats the message; it concludes nothing.
//
// A message may have several lines. Numbers that a message lacks are -1; texts are "".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/catalog.h"

namespace rankfault {

enum class ClueKind {
  kCallTimedOut,  // a call did not return within its limit: a watchdog's or a library's own
  kProgress,      // how many calls a rank had made on a group: last_enqueued, last_completed
  kDiffers,       // the log itself says which ranks made different calls, or none (desync report, RAS)
  kNotJoined,     // ranks did not join: a store or a rendezvous gave up
  kPeerLost,      // a connection to another rank broke, or another rank was seen to be gone
  kEnded,         // a process ended: `code` or `signal`
  kHostResource,  // the system refused a file, a segment or memory: `path` and `reason`
  kLibraryError,  // another error or warning of a communication library
  kStack,         // a stack: the rank is in `op` (py-spy), or in no communication call (`op` is "")
};

struct Clue {
  ClueKind kind = ClueKind::kLibraryError;
  // Where it stands.
  std::string file;
  uint64_t line = 0;   // the first line of the message, from 1
  std::string host;    // from a prefix of the line, else ""
  std::string time;    // as it was written, else ""
  std::string text;    // the message, one line, without colours and prefixes; at most 400 bytes
  uint64_t times = 1;  // equal messages of the file, this one included
  // Which rank says it (a prefix or the message), and which ranks it is about.
  int rank = -1;
  bool rank_is_local = false;  // `rank` counts the processes of one host (torchrun's "[default3]:")
  int group_rank = -1;         // the rank inside `group`, as c10d writes it ("[PG ID 2 ... Rank 1]")
  int world_size = -1;
  std::vector<int> about;  // ranks of `group` if that is known, else of the world
  // The call. `op` is a word of base/op_names.h ("all_reduce"), or "".
  std::string op, group, dtype;
  int64_t seq = -1, numel_in = -1, numel_out = -1, peer = -1;
  int64_t limit_ms = -1, ran_ms = -1;
  int64_t bytes_received = -1, bytes_expected = -1;                    // of a message that did not fit
  int64_t last_enqueued = -1, last_started = -1, last_completed = -1;  // 0: the rank had made no call
  // An end of a process, or what the system refused.
  int code = -1, signal = -1;  // of what the system refused, `code` is the errno
  int64_t pid = -1;
  std::string path, reason, host_call;  // host_call: "attaching to shared memory segment"
  std::vector<std::string>
      frames;  // of a stack, innermost first: "all_reduce (torch/distributed/...py:2810)"
};

// One line of a log, without colours, carriage returns and the prefixes that launchers add.
struct LogLine {
  std::string text;
  uint64_t number = 0;         // in its file, from 1
  int rank = -1;               // "[rank3]:", "[3] ", "[1,3]<stderr>:", "3: " of srun --label
  bool rank_is_local = false;  // "[default3]:" of torchrun
  std::string host;
  std::string time;
};

// Reads one kind of message. One file for each, in this folder; each registers itself. An object of it is
// made for each log file, so that it may keep what it needs of a message of several lines.
class ClueReader {
 public:
  virtual ~ClueReader() = default;
  // Texts of which each of its messages contains one. The reader gets no line without them.
  virtual std::vector<std::string_view> markers() const = 0;
  // Appends the clues that end with this line. The reader fills `line`, `rank` and `host` from the line, and
  // `text`; read_log fills `file`.
  virtual void take(const LogLine& line, std::vector<Clue>& clues) = 0;
  // True while a message is open: the reader then gets the next line, whatever that contains.
  virtual bool wants_next() const { return false; }
  virtual void finish(std::vector<Clue>&) {}  // the end of the file: what an open message says so far
};

struct ClueReaderEntry {
  std::string name;     // "c10d_watchdog"
  std::string summary;  // for `rankfault list evidence`
  std::unique_ptr<ClueReader> (*make)();
};

}  // namespace rankfault
