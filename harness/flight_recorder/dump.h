// dump: the fields of one PyTorch Flight Recorder dump, uninterpreted.
//
// Source: torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp, dump versions 2.0
// (PyTorch 2.3) to 2.10 (PyTorch 2.13). A number that a dump does not hold is -1 or empty, never a guess.
//
// Facts that the data does not show by itself:
// - the record is a ring: entries before the oldest one may have been overwritten;
// - a dump of "only active" entries holds no completed entry, and does not say that it is such a dump;
// - for Gloo (PyTorch 2.13) the state stays "scheduled" and `retired` means that the call is done, and
//   pg_config is one entry without name and ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankfault {

// kUnknown: no state, or a word that no known version writes.
enum class FrState { kUnknown, kScheduled, kStarted, kCompleted };

// From the prefix of profiling_name: "nccl:all_reduce". Only a whole dump can be kMixed.
enum class FrBackend { kUnknown, kNccl, kGloo, kOther, kMixed };

struct FrFrame {
  std::string name;  // function
  std::string file;
  int64_t line = 0;
};
// Innermost frame first. The entries of a dump share frames and stacks: a job has thousands of entries and
// few places that make calls.
using FrStack = std::vector<std::shared_ptr<const FrFrame>>;

struct FrGroupName {
  std::string name;  // "0", "39"; the key of pg_config
  std::string desc;  // "default_pg", "undefined", or the program's own name for it; "" before version 2.2
};

struct FrEntry {
  int64_t record_id = -1;  // counts the calls of the process from 0; the ring drops the oldest
  int64_t pg_id = -1;      // counts the process groups of the process
  FrGroupName group;       // process_group
  // Counts from 1 in the group. Before version 2.3 there is one count, seq_id, for both kinds; it is then in
  // the field that is_p2p selects.
  int64_t collective_seq_id = -1;
  int64_t p2p_seq_id = -1;
  int64_t op_id = -1;                             // counts each operation of a coalesced call
  std::string profiling_name;                     // "nccl:all_reduce", "nccl:send 0->1"
  int64_t time_created_ns = 0;                    // system clock, since 1970; 0: unknown
  std::vector<std::vector<int64_t>> input_sizes;  // a shape for each tensor
  std::vector<std::string> input_dtypes;          // "BFloat16", "Float": c10::toString
  std::vector<std::vector<int64_t>> output_sizes;
  std::vector<std::string> output_dtypes;
  FrState state = FrState::kUnknown;
  std::string state_word;                             // as written, when state is kUnknown
  std::optional<int64_t> time_discovered_started_ns;  // when the watchdog saw it: never early, may be late
  std::optional<int64_t> time_discovered_completed_ns;
  std::optional<double> duration_ms;  // only with TORCH_NCCL_ENABLE_TIMING
  bool retired = false;               // the watchdog is done with it; if it is not completed, it timed out
  int64_t timeout_ms = -1;
  bool is_p2p = false;
  std::string thread_name;
  std::string thread_id;                  // decimal text of the pthread handle, not of the kernel's thread id
  std::shared_ptr<const FrStack> frames;  // null: dumped without stacks (always in JSON)
};

struct FrGroupConfig {
  std::string key;  // of pg_config: the group's name
  std::string name;
  std::string desc;
  std::vector<int64_t> ranks;  // global ranks, by rank in the group; empty: unknown
};

struct FrGroupStatus {
  int64_t pg_id = -1;
  int64_t last_enqueued = -1;  // sequence numbers; -1: none yet
  int64_t last_started = -1;
  int64_t last_completed = -1;
};

// *_comm_state: what NCCL reports about one communicator, words and numbers as text.
struct FrCommState {
  std::string id;
  std::vector<std::pair<std::string, std::string>> fields;
};

// From the side file (side_file.h): facts for which the dump itself has no place.
struct FrSide {
  int64_t rank = -1;
  std::string host;
  int64_t clock_offset_ns = 0;  // added to this dump's times, it gives the job's common clock
  int64_t clock_error_ns = -1;  // bound of the offset's error; -1: not known
  int64_t dropped = 0;          // calls that were made but are not in the dump
};

enum class FrFormat { kPickle, kJson };

struct FrDump {
  std::string version;           // "2.10"
  std::string comm_lib_version;  // nccl_version before 2.10; "" for Gloo
  FrBackend backend = FrBackend::kUnknown;
  int64_t rank = -1;                  // from the file's name, else from the side file; -1: unknown
  std::string host;                   // from the file's name ("host7.example_rank_3"); a guess
  std::string hostname;               // from the side file, or a key `hostname` or `host_name` of the dump
  std::vector<FrGroupConfig> groups;  // pg_config, in file order
  std::vector<FrGroupStatus> status;  // pg_status, in file order
  std::vector<FrCommState> comm_state;
  std::vector<FrEntry> entries;  // oldest first; empty when they went to a sink
  uint64_t entry_count = 0;      // also when they went to a sink
  std::optional<FrSide> side;
  FrFormat format = FrFormat::kPickle;
  std::string path;                // where it was read from; "" for memory
  std::vector<std::string> notes;  // what was unusual but was read
};

// "nccl:all_reduce" -> kNccl; without a prefix kUnknown.
FrBackend backend_of(std::string_view profiling_name);
const char* state_word(FrState state);      // "scheduled", ...; "unknown"
const char* backend_word(FrBackend value);  // "nccl", "gloo", "other", "mixed", "unknown"

}  // namespace rankfault
