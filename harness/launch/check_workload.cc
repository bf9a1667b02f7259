// check_workload: checks everything that this attempt would start, before anything is started.
#include <algorithm>
#include <filesystem>

#include "harness/launch/launcher.h"
#include "harness/launch/launchers/torchrun_program.h"
#include "harness/launch/start_faults.h"
#include "harness/launch/torch_over_double.h"

namespace rankfault {
namespace {

// The PyTorch of the torchrun that this attempt would start, if it is known.
Status check_torchrun(const CudaDouble& cuda, const Workload& workload) {
  const TorchrunProgram& program = torchrun_program(workload);
  if (const Status room = check_cuda_room(cuda, workload); !room) return room;
  if (program.version.empty() || program.libraries.empty()) return Done{};
  return check_torch_over_double(cuda, {program.version, program.python, program.libraries}, workload.pos);
}

}  // namespace

Status check_workload(const LaunchContext& context) {
  const Workload& workload = context.plan.scenario.workload;
  if (workload.command.empty()) return usage_error("the workload has no command", workload.pos);
  const std::string program = expand(workload.command[0], context, -1),
                    cwd = expand(workload.cwd, context, -1);
  if (!cwd.empty() && !std::filesystem::is_directory(cwd))
    return usage_error("cwd " + cwd + " is not a directory", workload.pos);
  if (const Status there = libraries_there(context); !there) return there;
  const auto env = job_environment(context, 0);
  const auto& args = workload.launcher_args;
  const bool script = workload.launcher == LauncherKind::kTorchrun &&
                      std::find(args.begin(), args.end(), "--no-python") == args.end() &&
                      std::find(args.begin(), args.end(), "--no_python") == args.end();
  if (!script) {
    // A command of a scenario may be any wrapper; the agent is for what it starts.
    const bool wrapper = workload.launcher == LauncherKind::kCommand && !context.watched();
    const Status runs = check_program(program, env, cwd, !context.agent.empty() && !wrapper, workload.pos);
    return runs && context.cuda ? check_cuda_double(*context.cuda, workload, path_of(program, env, cwd))
                                : runs;
  }
  // torchrun reads a Python file, or a module after -m.
  const bool module = program == "-m" || std::find(args.begin(), args.end(), "-m") != args.end();
  const std::string path = program[0] == '/' || cwd.empty() ? program : cwd + "/" + program;
  if (!module && program.ends_with(".py") && !std::filesystem::is_regular_file(path))
    return usage_error(path + ": no such script", workload.pos);
  return context.cuda ? check_torchrun(*context.cuda, workload) : Status(Done{});
}

}  // namespace rankfault
