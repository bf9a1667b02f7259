// Case: what evidence of a hang says about a job, in one form for all kinds of evidence: the groups, the
// calls of each rank around the divergence, and the state that must come back.
// docs/reference/case.v1.schema.json describes its file.
//
// A case concludes nothing that the evidence does not say: `known` repeats it, `guessed` says what was added
// and why, `questions` says what would settle a guess.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault {

struct CaseEvidence {
  std::string kind = {};  // "run", "flight_recorder", "log"
  std::string path = {}, digest = {};
  uint64_t bytes = 0;
};

struct CaseGroup {
  std::string name = {};          // "world", the library's name, or "group of 2"
  std::vector<int> members = {};  // ranks of the job, by rank in the group
};

struct CaseCall {
  int group = -1;       // index in Case::groups
  std::string op = {};  // a word of base/op_names.h: "all_reduce"
  std::string dtype = {}, reduce_op = {};
  int64_t count = -1;  // elements that the rank gives; -1: not known
  int peer = -1;       // rank of the job: the root, or the other side of a message; -1: none or not known
  int tag = 0;
  uint64_t seq = 0;        // place in the order of its group; 0: none or not known
  bool open = false;       // it did not return, or its work did not complete
  bool pending = false;    // its thread left it before the work was complete
  std::string where = {};  // source line

  bool operator==(const CaseCall&) const = default;
};

inline bool is_message(const CaseCall& call) {
  return call.op == "send" || call.op == "ssend" || call.op == "recv";
}
inline bool is_wait(const CaseCall& call) { return call.op.starts_with("wait") || call.op == "stream_wait"; }

enum class RankState {
  kUnknown,     // the evidence does not say
  kWaits,       // in a call that others did not enter
  kElsewhere,   // alive, and in no call that waits for others
  kEnded,       // by `signal`, or with `code`
  kNotStarted,  // it never joined
};
const char* to_text(RankState);  // "unknown", "waits", "elsewhere", "ended", "not_started"

struct CaseRank {
  int rank = -1;
  RankState state = RankState::kUnknown;
  int signal = 0, code = -1;  // of kEnded; -1 and 0: not known
  std::vector<CaseCall> calls =
      {};  // in the order in which its threads made them; the last ones are the newest
};

// The state that a reproduction must have.
struct HangState {
  std::string kind = {};  // of a finding: "missing_call"
  std::string op = {}, group = {};
  std::string field = {};          // call_mismatch: the argument that differs
  std::string resource = {};       // host_resource: the begin of the path
  std::vector<int> culprits = {};  // empty: no rank is blamed, see `sides`
  std::vector<int> waiters = {};   // ranks that wait in `op`
  std::vector<std::vector<int>> sides = {};
  uint64_t seq = 0;
  bool proven = false;
  bool kind_is_guessed = false;  // a log shows who did not come, not why
  std::string text = {};

  bool hangs() const { return !kind.empty() && kind != "none" && kind != "cannot_say"; }
};

struct Case {
  std::vector<CaseEvidence> evidence = {};
  std::string library = {};  // "c10d", "nccl", "mpi", "gloo"; "": not known
  int world_size = 0;        // 0: not known
  std::vector<CaseGroup> groups = {};
  std::vector<CaseRank> ranks = {};  // by rank; not all ranks of a large job
  HangState state;
  int64_t limit_ms = -1;  // of the call that hangs
  std::vector<std::string> known = {}, guessed = {}, questions = {};
  int folded_world = 0;  // ranks of the job in the evidence; 0: not folded
  std::vector<int> folded_from =
      {};  // for each rank of a folded case its rank in the evidence; empty: not folded

  const CaseRank* rank(int number) const;
};

Json to_json(const Case&);

// So many ranks of a job may be blamed for what the evidence does not have of them: four, or a quarter, at
// least one.
size_t few_ranks(int world_size);

}  // namespace rankfault
