// Plan: what will be done, with every random choice made and every fault lowered to actions. plan.json is
// this struct; `rankfault plan` prints it; launch and inject execute it. No later stage of the run reads the
// scenario's text again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/agent/agent_abi.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

// What the harness itself does while the victim is parked (or when a delay after an earlier action is over).
// The agent's own verbs are RF_VERB_*.
enum class ExternalAction {
  kNone,
  kSignal,    // pidfd_send_signal of `signal` to the victim
  kContinue,  // SIGCONT, `after` the stop
  kUnlink,    // unlink `path`: a pattern in /dev/shm, or one of names below the job's TMPDIR (no leading /)
  kTruncate,  // to `size` bytes
  kChmod,
  kFlipBit,  // bit `mode` of the byte at `size`; from the end when negative
  kWatch,    // changes nothing: the file calls of the trigger are recorded in every rank
  kStart,    // by the launcher, as `path` says: never, late (by `delay`), twice, wrong_env, wrong_rank or
             // wrong_size (`size`)
  kSignalHelper,  // `signal` to the `size`th process that the victim started and whose name matches `path`
  kLeaveStale,  // a segment of `size` bytes of `mode` under the name that the victim is about to use; of size
                // -1: in place of the job's own segment of that name
  kKillLauncher,  // `signal` to the launcher program that started the victim
  kKillNode,      // and to all processes that it started
  kMount,         // by the guardian, before the job: mounts a file system of `size` bytes at `path`, which is
                  // /dev/shm or a name below the job's TMPDIR
  kLimit,         // the victim's soft limit of `mode` (RLIMIT_*) becomes its current use plus `size`
  kUnlimit,       // restores the limit, `after` kLimit
  kLoad,          // `size` busy processes on each core that the victim may use
  kUnload,        // ends them, `after` kLoad
};

// The harness alone performs it, a time after an action of a victim; no rank enters a gate for it.
constexpr bool is_timed(ExternalAction verb) {
  return verb == ExternalAction::kContinue || verb == ExternalAction::kUnlimit ||
         verb == ExternalAction::kUnload;
}

// Performed before any process is started, and so at no gate.
constexpr bool is_at_start(ExternalAction verb) {
  return verb == ExternalAction::kStart || verb == ExternalAction::kMount;
}

inline constexpr const char* kShmFolder = "/dev/shm";

struct Action {
  uint32_t id = 0;    // index in Plan::actions; the agent's rf_armed.id
  std::string fault;  // id of the fault that it belongs to
  int rank = -1;      // the victim
  Trigger at;
  rf_verb verb = RF_VERB_NONE;
  ExternalAction outside = ExternalAction::kNone;
  int signal = 0;
  int exit_code = 0;
  int fail_code = 0;
  Duration delay{0};  // RF_VERB_DELAY; for a timed verb: time since the action before it
  std::string path;
  std::map<std::string, std::string> env;  // kStart: the variables that the rank gets instead, words not
                                           // expanded
  int64_t size = 0;
  int mode = 0;
  uint64_t times = 1;  // UINT64_MAX: every match
  uint64_t every = 0;
  bool ask = true;  // true: the agent parks and asks; false: granted beforehand
  bool each_attempt = false;
  int32_t after = -1;  // id of the action that must be done before
};

// A signal counts although it may be one that ends no process.
inline bool may_end_a_process(const Action& action) {
  return action.verb == RF_VERB_EXIT || action.verb == RF_VERB_RAISE ||
         action.outside == ExternalAction::kSignal || action.outside == ExternalAction::kSignalHelper ||
         action.outside == ExternalAction::kKillLauncher || action.outside == ExternalAction::kKillNode;
}

struct Plan {
  Scenario scenario;    // with mutation checks and variants already applied
  std::string tooth;    // id of the mutation check (tooth) that is on; "": none
  std::string variant;  // id of the variant that is run; "": none
  bool bug_on = false;
  bool faults_on = true;  // false: the reference, or a corner of the square
  uint64_t seed = 0;
  std::vector<Action> actions;
  std::vector<std::string> preload;  // extra agent objects: "libc"
  std::vector<std::string> notes;    // "inner: open inside MPI_Init may only kill, stop, unlink or fail"
  std::string scenario_digest;       // hash of the text and of what was applied to it
  std::string reference_run;         // directory of the reference run, "" none
};

struct PlanOptions {
  bool faults_on = true;
  bool bug_on = true;
  const Variant* variant = nullptr;
  const Tooth* tooth = nullptr;
  std::optional<uint64_t> seed;
  std::vector<std::pair<std::string, std::string>> set;  // --set key=value
  std::string nccl;  // NCCL version for scenarios over the double of CUDA; "": the one that they name
};

// Pure. Everything impossible is an error here, before launch, with its place in the file.
Result<Plan> make_plan(const Scenario&, const PlanOptions&);

Json to_json(const Plan&);
Result<Plan> plan_from_json(const Json&);

}  // namespace rankfault
