// scenario_runner: one scenario of a command, with all the runs it needs: its reference, itself, and under
// --teeth the corners of the square.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/run_scenario.h"

namespace rankfault {

using RunFunction = std::function<Result<FinishedRun>(const Plan&, const RunOptions&)>;
using Progress = std::function<void(const std::string&)>;

enum class Keep { kFailed, kAll, kNone };

struct SessionOptions {
  std::vector<std::pair<std::string, std::string>> set;
  std::string nccl;                  // as in PlanOptions
  const Variant* variant = nullptr;  // every scenario runs in this variant: a rung of a ladder
  std::optional<uint64_t> seed;
  bool teeth = false;
  int jobs = 1;
  Keep keep = Keep::kAll;
  std::string run_dir;  // of a single run; "" : a fresh one
  bool with_agent = true;
  std::function<Status(const Plan&)>
      can_start;            // called for all variants before the first is run; may be empty
  bool by_verdict = false;  // one file was named: the exit code reports its verdict, not its outcome
  const std::atomic<int>* interrupted = nullptr;
  Progress progress;
  std::function<void(const struct ScenarioOutcome&)> finished;  // one scenario is done
};

inline constexpr const char* kNoTeeth = "it has no mutation checks";  // why --teeth skips a scenario

struct MutationRow {  // one mutation check of one scenario: the square, and whether it bites
  std::string scenario, tooth, must_fail;
  std::string on_quiet, on_fault, off_quiet, off_fault;  // verdicts of the corners; "" not run
  bool bites = false;
  std::string why;
  std::vector<std::string> also_failed;
  std::string cuda_double;  // as in RunReport
  double seconds = 0;       // from the row before, so the first has the corners that all share
};

struct ScenarioOutcome {
  RunReport report;  // of the scenario itself; its facts are `facts`
  std::unique_ptr<RunFacts> facts;
  std::optional<Error> error;  // why it could not be run
  std::vector<MutationRow> teeth;
  std::vector<std::string> extra_run_dirs;  // run directories beside its own: reference, corners
};

// Runs with which other runs are compared. Each runs once a command for each set of settings that could
// change it.
class References {
 public:
  References(RunFunction run, const SessionOptions& options) : run_(std::move(run)), options_(options) {}

  struct Entry {
    std::string run_dir;
    Judgement judgement;
    std::string cleanup;
  };
  // `reference_run` is the reference of the run itself; "" for a first one.
  Result<Entry> get(const Plan& plan, const std::string& run_dir, const std::string& reference_run);

 private:
  RunFunction run_;
  const SessionOptions& options_;
  std::map<std::string, Entry> done_;
};

class ScenarioRunner {
 public:
  ScenarioRunner(RunFunction run, const SessionOptions& options)
      : run_(run), references_(std::move(run), options), options_(options) {}

  ScenarioOutcome run(const Scenario&);

 private:
  ScenarioOutcome run_it(const Scenario&);
  ScenarioOutcome one_run(const Scenario&, const Variant*, const std::string& run_dir);
  Status can_start_all(const Scenario&);
  ScenarioOutcome all_variants(const Scenario&);
  ScenarioOutcome with_teeth(const Scenario&);

  RunFunction run_;
  References references_;
  const SessionOptions& options_;
};

RunOptions run_options(const SessionOptions&);
double seconds_since(Instant);
PlanOptions plan_options(const SessionOptions&);

// Puts the reference's files beside a run, so that the run directory can be copied anywhere and judged there.
// Links files where it can.
Status keep_reference_beside(const std::string& reference_dir, const std::string& run_dir);

}  // namespace rankfault
