// Scenario: what a user asks for, after parsing and before any choice is made.
//
// The types mirror the YAML one to one; scenario_fields.h has their tables. Parameters of fault kinds and
// oracles are unknown here: they stay a Value tree with positions, which the catalogue entry that owns them
// reads (params.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/time.h"

namespace rankfault {

// A YAML value with its place. Maps keep the order of the file.
struct Value {
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;

  // Defined below: a vector of pairs of Values may be copied or destroyed only after Value is complete.
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  std::variant<std::monostate, bool, int64_t, double, std::string, List, Map> data;
  SourcePos pos;
  std::string text;  // a scalar as it was written
  SourcePos key;     // of its key, when it is in a map

  bool is_null() const { return std::holds_alternative<std::monostate>(data); }
  const List* list() const { return std::get_if<List>(&data); }
  const Map* map() const { return std::get_if<Map>(&data); }
  const Value* find(const std::string& key) const;  // in a map; null
};
inline Value::Value() = default;
inline Value::Value(const Value&) = default;
inline Value::Value(Value&&) noexcept = default;
inline Value& Value::operator=(const Value&) = default;
inline Value& Value::operator=(Value&&) noexcept = default;
inline Value::~Value() = default;

// Which ranks. `others` is all but the victims; `survivors` are those alive when the effect was verified.
struct RankSet {
  enum class Kind { kAll, kVictims, kOthers, kSurvivors, kListed };
  Kind kind = Kind::kListed;
  std::vector<int> ranks;  // kListed: sorted, unique
  SourcePos pos;
};

struct CommSelector {
  enum class Kind { kAny, kWorld, kSize, kNamed, kOrdinal };
  Kind kind = Kind::kAny;
  int size = 0;                     // kSize
  std::optional<int> has_rank;      // kSize
  std::optional<std::string> name;  // kNamed
  int nth = 0;                      // kOrdinal: which of the victim's communicators, from 1
};

enum class Edge { kBefore, kAfter };

// When a fault fires: logical time only. All given keys must match; nth counts matching calls of the victim
// in program order, from 1.
struct Trigger {
  std::optional<int> attempt;
  std::string phase;
  std::optional<int64_t> step;
  std::string op;       // "all_reduce"; "" any collective
  std::string library;  // whose call: "nccl"; "" a call that the program made
  CommSelector comm;
  int64_t nth = 1;
  std::string file_op;  // "open", "write", "fsync", "rename", "unlink", "shm_attach", "shm_create"
  std::string path;     // glob
  std::string mark;
  std::string after_fault;  // id of another fault
  Edge edge = Edge::kBefore;
  SourcePos pos;
};

inline constexpr int64_t kEveryTime = -1;
struct Times {
  int64_t count = 1;   // kEveryTime: "unlimited"
  bool given = false;  // else the kind may choose its own
};

struct FaultSpec {
  std::string id;
  std::string kind;
  RankSet ranks;
  Trigger at;
  Times times;
  bool each_attempt = false;
  bool optional = false;
  Value params;  // a map: what the kind itself defines
  SourcePos pos;
  SourcePos kind_pos;
};

struct ExpectationSpec {
  std::string id;  // "blamed", or "blamed#2" when the oracle occurs twice
  std::string oracle;
  Value params;
  SourcePos pos;
};

enum class LauncherKind { kLocal, kMpirun, kTorchrun, kCommand, kSlurm };
const char* to_text(LauncherKind);  // its name in scenarios and in Catalog<Launcher>

struct Markers {  // steps and values read from log lines of a workload without marks
  std::string step_begin, step_commit, value, error;  // regular expressions with one group each
};

struct Limits {
  Duration wall{0};
  Duration slow_after{0}, hung_after{0};  // the minimum patience of inferred findings; 0: the diagnosis' own
};

inline constexpr int kMostRanks = 16384;

struct Workload {
  LauncherKind launcher = LauncherKind::kLocal;
  int ranks = 0;
  std::vector<std::string> command;  // argv; {bin} {rank} {ranks} {store} {tmp} {scenario_dir} {attempt}
  std::vector<std::string> launcher_args;  // passed to mpirun or torchrun unchanged
  std::string mpirun;                      // path of the launcher program; "" means found on PATH
  int nodes = 1;                           // torchrun: number of torchruns, each with its share of the ranks
  std::string torchrun;                    // path of torchrun, or of a Python that has torch; "" means found
  std::map<std::string, std::string> env;
  std::string cwd;
  int restarts = 0;
  Limits limits;
  bool order_free = false;
  Markers markers;
  std::vector<std::string> needs;  // "mpi", "torch", "nccl >= 2.27" ...: missing means skipped (77)
  bool cuda_double = false;        // over the double of CUDA, not the machine's own
  std::string nccl;                // NCCL version over the double: "2.22.3"; "" the newest that `needs` allow
  SourcePos pos;
};

struct Bug {
  std::vector<std::string> args;
  std::string stands_for;
  SourcePos pos;
};

struct Change {  // of the job
  std::string id;
  std::vector<std::string> args;           // appended to the command
  std::map<std::string, std::string> env;  // added
  Value::Map set;                          // "faults.ID.at" -> new value
  SourcePos pos;
};

struct Tooth : Change {   // a mutation check; its id is "t1", "t2" ... unless given
  std::string must_fail;  // id of an expectation
};

struct Variant : Change {  // one of several ways to run the scenario
  std::optional<int> ranks;
  int times = 1;  // number of runs: durations vary
};

struct MustBe {
  enum class Kind { kPass, kVoid, kFail } kind = Kind::kPass;
  std::string expectation;  // kFail
};

struct FormatVersion {};  // only version 1 exists

struct Scenario {
  FormatVersion version;
  std::string name;
  std::string summary;
  Workload workload;
  bool reference_fault_free = false;
  std::optional<uint64_t> seed;
  std::vector<FaultSpec> faults;
  std::optional<Bug> bug;
  std::vector<ExpectationSpec> expect;
  std::vector<Tooth> teeth;
  std::vector<Variant> variants;  // none: it is run once, unchanged
  MustBe must_be;
  std::string file;  // "" for the one-line form
  std::string text;  // the source, for the digest and the run directory
};

}  // namespace rankfault
