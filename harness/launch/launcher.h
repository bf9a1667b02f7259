// Launcher: how one attempt of the job is started, and what its launcher program tells of its ranks.
// One file each: local.cc, mpirun.cc, torchrun.cc, registered in Catalog<Launcher>.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/catalog.h"
#include "harness/launch/guardian.h"
#include "harness/launch/rank_end.h"
#include "harness/plan/plan.h"
#include "harness/run/run_dir.h"

namespace rankfault {

struct LaunchContext {
  const Plan& plan;
  const RunDir& run;
  int attempt = 0;
  std::string bin_dir;      // {bin}
  std::string agent;        // path of librankfault_agent.so; "" : launch without it
  std::vector<std::string> extra_preload;
};

struct LaunchItem {
  Command command;
  int rank = -1;  // -1: a launcher program that starts ranks itself
};

struct ReportedEnd {
  int rank = -1;
  int pid = 0;
  ExitStatus status;
};

struct Launcher {
  const char* name;
  const char* summary;
  // What must be there: the launcher program, its version. kMissing error: skipped (77).
  Status (*probe)(const Workload&);
  Result<std::vector<LaunchItem>> (*items)(const LaunchContext&);
  // After the attempt: what the launcher's own output says of its ranks' ends; may be empty.
  std::vector<ReportedEnd> (*reported)(const LaunchContext&);
  // The launcher's own output and, where it keeps them, each rank's output, as logs/rank-N.aM.log.
  Status (*collect_logs)(const LaunchContext&);
};

// The environment an agent needs, and LD_PRELOAD with what was there kept.
std::map<std::string, std::string> agent_environment(const LaunchContext&);
// {bin} {rank} {ranks} {store} {tmp} {attempt} {scenario_dir} {run}; unknown braces are left alone.
std::string expand(const std::string& word, const LaunchContext&, int rank);

}  // namespace rankfault
