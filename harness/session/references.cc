// references: runs without faults, each made once per command.
#include <filesystem>

#include "harness/judge/oracle.h"
#include "harness/scenario/value.h"
#include "harness/session/scenario_runner.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

// The key holds all that could make two such runs differ, and what they must show.
std::string key_of(const Plan& plan, const std::string& reference_run) {
  const Workload& workload = plan.scenario.workload;
  Json key = {{"command", workload.command},
              {"launcher", static_cast<int>(workload.launcher)},
              {"launcher_args", workload.launcher_args},
              {"mpirun", workload.mpirun},
              {"ranks", workload.ranks},
              {"env", workload.env},
              {"cwd", workload.cwd},
              {"cuda_double", workload.cuda_double},
              {"nccl", workload.nccl},
              {"wall", workload.limits.wall.count()},
              {"seed", plan.seed},
              {"dir", fs::path(plan.scenario.file).parent_path().string()},
              {"reference", reference_run}};
  for (const ExpectationSpec& spec : plan.scenario.expect)
    if (!refers_to_trouble(spec)) key["expect"].push_back({spec.id, spec.oracle, to_json(spec.params)});
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<References::Entry> References::get(const Plan& plan, const std::string& run_dir,
                                          const std::string& reference_run) {
  const std::string key = key_of(plan, reference_run);
  if (const auto known = done_.find(key); known != done_.end()) return known->second;
  RunOptions options = run_options(options_);
  options.run_dir = run_dir;
  options.reference_run = reference_run;
  Result<FinishedRun> run = run_(plan, options);
  if (!run) return run.error();
  const Entry entry{run->facts ? run->facts->run_dir : "", run->report.judgement, run->report.cleanup};
  done_[key] = entry;
  return entry;
}

Status keep_reference_beside(const std::string& reference_dir, const std::string& run_dir) {
  std::error_code error;
  const fs::path from = reference_dir, to = fs::path(run_dir) / "reference";
  fs::create_directories(to / "records", error);
  if (error) return refused("create " + to.string() + ": " + error.message());
  std::vector<fs::path> files{"plan.json", "journal.ndjson"};
  for (const auto& entry : fs::directory_iterator(from / "records", error))
    if (entry.is_regular_file()) files.push_back(fs::path("records") / entry.path().filename());
  for (const fs::path& file : files) {
    fs::create_hard_link(from / file, to / file, error);
    if (error) fs::copy_file(from / file, to / file, fs::copy_options::overwrite_existing, error);
    if (error) return refused("copy " + (from / file).string() + ": " + error.message());
  }
  return Done{};
}

}  // namespace rankfault
