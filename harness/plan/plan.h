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

inline constexpr const char* kNoAct = "none";
inline constexpr const char* kShmFolder = "/dev/shm";

struct Action {
  uint32_t id = 0;    // index in Plan::actions; the agent's rf_armed.id
  std::string fault;  // id of the fault that it belongs to
  int rank = -1;      // the victim
  Trigger at;
  rf_verb verb = RF_VERB_NONE;
  std::string outside = kNoAct;  // name of an ExternalAct: what the harness itself does
  int signal = 0;
  int exit_code = 0;
  int fail_code = 0;
  Duration delay{0};  // RF_VERB_DELAY; for an act at ActTime::kLater: time since the action `after`
  std::string path;
  std::map<std::string, std::string> env;  // variables that the rank gets instead, words not expanded
  int64_t size = 0;
  int mode = 0;
  uint64_t times = 1;  // UINT64_MAX: every match
  uint64_t every = 0;
  bool ask = true;  // true: the agent parks and asks; false: granted beforehand
  bool each_attempt = false;
  int32_t after = -1;  // id of the action that must be done before
};

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
