// Launcher: how one attempt of the job is started, and what its launcher program reports about its ranks. One
// file each, registered in Catalog<Launcher>.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/catalog.h"
#include "harness/base/rank_end.h"
#include "harness/launch/cuda_double.h"
#include "harness/launch/guardian.h"
#include "harness/launch/node_channel.h"
#include "harness/plan/plan.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {

struct LaunchContext {
  const Plan& plan;
  const RunDir& run;
  int attempt = 0;
  std::string bin_dir;  // {bin}
  std::string agent;    // path of librankfault_agent.so; "" : launch without it
  std::vector<std::string> extra_preload;
  const CudaDouble* cuda = nullptr;    // null: whatever CUDA the machine has
  const NodeChannel* nodes = nullptr;  // null: all ranks are on this host

  // The command and its environment stay as the user wrote them, except for what the agent needs.
  bool watched() const { return run.kind() == RunKind::kWatch; }
  std::string cuda_folder() const;  // where the ranks of this attempt meet over the double
};

struct LaunchItem {
  Command command;
  int rank = -1;                       // -1: a launcher program that starts ranks itself
  bool ends_all = false;               // that program ends all its ranks when one ended badly
  Duration later_by{0};                // than the others
  std::vector<std::string> watched;    // variables that the journal records as the process got them
  std::vector<std::string> as_others;  // variables that a fault was to change but that already had the same
                                       // value
  std::shared_ptr<const void> holds;   // kept for as long as the attempt lasts
};

struct ReportedEnd {
  int rank = -1;
  int pid = 0;      // 0: not reported
  int attempt = 0;  // torchrun: its own restart count, -1: not reported; else the attempt of the context
  ExitStatus status;
};

struct Launcher {
  const char* name;
  const char* summary;
  bool restarts_ranks;  // its ranks may all be gone for a while, and be started again
  // Whether its ranks may be on other hosts: LaunchContext::nodes is then set. Null: they never are.
  bool (*spans_nodes)(const Workload&) = nullptr;
  // Checks what must exist: the launcher program, its version. kMissing error: skipped (77).
  Status (*probe)(const Workload&);
  // After a successful probe: the program that starts the ranks, and its version.
  std::string (*found)(const Workload&);
  Result<std::vector<LaunchItem>> (*items)(const LaunchContext&);
  // After the attempt: how the launcher's own output and exit say that its ranks ended; may be empty.
  std::vector<ReportedEnd> (*reported)(const LaunchContext&, const ExitStatus& launcher);
  // The launcher's own output and, where it keeps them, each rank's output, as logs/rank-N.aM.log.
  Status (*collect_logs)(const LaunchContext&);
};

// The environment that an agent needs. LD_PRELOAD keeps its previous value: `given` if the launcher's own
// words set it, else the scenario's `env:`, else the tool's own.
std::map<std::string, std::string> agent_environment(const LaunchContext&,
                                                     const std::optional<std::string>& given = std::nullopt);
// {bin} {rank} {ranks} {store} {tmp} {attempt} {scenario_dir} {run}; other braces are left alone, and in a
// watched job all are.
std::string expand(const std::string& word, const LaunchContext&, int rank);

// Whether the command can be started and the agent loaded into it: found on the PATH of `env`, executable,
// dynamically linked (scripts: their interpreter). It launches nothing to find out.
Status check_program(const std::string& program, const std::map<std::string, std::string>& env,
                     const std::string& cwd, bool needs_agent, const SourcePos& where = {});
// The file that would be executed; "" when it is not on PATH.
std::string path_of(const std::string& program, const std::map<std::string, std::string>& env,
                    const std::string& cwd);
std::string program_on_path(const std::string& program);  // on the PATH of this process
// The same for what this attempt would start: the launcher's own program and the workload's.
Status check_workload(const LaunchContext&);

// Makes a folder of the run; nothing for a plan.
void make_folder(const LaunchContext&, const std::string& path);
// Makes the folder that {store} names.
void make_store(const LaunchContext&);

// The tool's environment, the workload's `env:` (expanded), and the job's own variables (RANKFAULT_JOB, and
// TMPDIR if the run gives it one), without the agent's.
std::map<std::string, std::string> job_environment(const LaunchContext&, int rank);
// logs/launcher.aM.log and logs/rank-N.aM.log
std::string launcher_log(const RunDir&, int attempt);
std::string rank_log(const RunDir&, int rank, int attempt);

}  // namespace rankfault
