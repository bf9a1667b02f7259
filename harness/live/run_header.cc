#include "harness/live/run_header.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "harness/agent/agent_abi.h"
#include "harness/judge/oracle.h"

namespace rankfault {

void journal_run_begin(const Plan& plan, const std::string& reference_run, const DiagnoseOptions& diagnose,
                       const std::string& cuda_double, Journal& journal) {
  utsname host{};
  ::uname(&host);
  journal.write(events::RunBegin{.scenario = plan.scenario.name,
                                 .digest = plan.scenario_digest,
                                 .file = plan.scenario.file,
                                 .tooth = plan.tooth,
                                 .bug_on = plan.bug_on,
                                 .faults_on = plan.faults_on,
                                 .seed = plan.seed,
                                 .version = "0.1.0",
                                 .abi = RF_ABI_VERSION,
                                 .kernel = host.release,
                                 .cores = ::sysconf(_SC_NPROCESSORS_ONLN),
                                 .world_size = plan.scenario.workload.ranks,
                                 .launcher = to_text(plan.scenario.workload.launcher),
                                 .cuda_double = cuda_double,
                                 .reference_run = reference_run,
                                 .slow_after_ns = diagnose.slow_after,
                                 .hung_after_ns = diagnose.hung_after});
}

void journal_losses(const Observer& observer, Journal& journal) {
  const Observer::Losses losses = observer.losses();
  if (losses.let_go + losses.overwritten + losses.removed == 0) return;
  journal.write(events::History{.window_calls = window_calls(),
                                .let_go = losses.let_go,
                                .overwritten = losses.overwritten,
                                .laps = losses.overwritten / RF_LANE_RECORDS,
                                .removed = losses.removed});
}

bool all_decided(const Plan& plan, const std::string& run_dir) {
  if (plan.scenario.expect.empty()) return false;
  for (const ExpectationSpec& spec : plan.scenario.expect) {
    const Oracle* oracle = Catalog<Oracle>::instance().find(spec.oracle);
    if (!oracle || !oracle->decided) return false;
  }
  const Result<RunFacts> facts = read_run(run_dir);
  if (!facts) return false;
  for (const FaultSpec& fault : plan.scenario.faults)
    if (plan.faults_on && !fault.optional && !facts->fault_at.count(fault.id)) return false;
  for (const ExpectationSpec& spec : plan.scenario.expect)
    if (!Catalog<Oracle>::instance().find(spec.oracle)->decided(spec, *facts)) return false;
  return true;
}

}  // namespace rankfault
