// check_workload: checks everything that this attempt would start, before anything is started.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/launch/launcher.h"
#include "harness/launch/launchers/torchrun_program.h"
#include "harness/launch/memory_room.h"
#include "harness/launch/start_faults.h"
#include "harness/launch/torch_over_double.h"

namespace rankfault {
namespace {

Status check_torch(const CudaDouble& cuda, const Workload& workload, const TorchrunProgram& program) {
  if (const Status runs =
          check_torch_over_double(cuda, {program.version, program.python, program.libraries}, workload.pos);
      !runs)
    return runs;
  return check_memory_room(workload.ranks, kTorchRankBytes, memory_of_machine(), workload.pos);
}

// The PyTorch of the torchrun that this attempt would start, if it is known.
Status check_torchrun(const CudaDouble& cuda, const Workload& workload) {
  const TorchrunProgram& program = torchrun_program(workload);
  if (const Status room = check_cuda_room(cuda, workload); !room) return room;
  if (program.version.empty() || program.libraries.empty()) return Done{};
  return check_torch(cuda, workload, program);
}

// Whether a line imports PyTorch: "import os, torch", "from torch.nn import Linear".
bool imports_torch(const std::string& code) {
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    const bool from = word == "from";
    if (!from && word != "import") continue;
    while (words >> word && word[0] != '#') {
      const std::string module = word.substr(0, word.find_first_of(".,;"));
      if (module == "torch") return true;
      if (from) break;  // the names after it are no modules
    }
  }
  return false;
}

// The first megabyte: a program that names no script may be given a file of data.
std::string begin_of(const std::filesystem::path& path) {
  std::string begin(1 << 20, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(in.gcount()));
  return begin;
}

// Whether a Python with these arguments runs PyTorch. As in Python, -c, -m or the first argument that is no
// option names the program.
bool starts_torch(const std::vector<std::string>& arguments, const std::string& cwd) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (argument == "-c") return imports_torch(value);
    if (argument == "-m") return (value + ".").starts_with("torch.");
    if (!argument.starts_with("-"))
      return imports_torch(
          begin_of(std::filesystem::path(cwd) / argument));  // cwd does not count if it is absolute
  }
  return false;
}

// The PyTorch of a Python that no torchrun starts, where it is built with CUDA and the script imports it.
// One that does not may use CUDA in another way.
Status check_python(const CudaDouble& cuda, const LaunchContext& context, const std::string& program,
                    const std::string& cwd) {
  std::vector<std::string> words;
  for (const std::string& word : context.plan.scenario.workload.command)
    words.push_back(expand(word, context, -1));
  words[0] = program;
  Workload workload = context.plan.scenario.workload;
  workload.torchrun = program;  // or a script of a Python
  if (!is_script_of_python(program) ||
      !starts_torch({words.begin() + (is_python(program) ? 1 : 0), words.end()}, cwd))
    return Done{};
  const TorchrunProgram& found = torchrun_program(workload);
  return is_cuda_torch(found.libraries) ? check_torch(cuda, workload, found) : Status(Done{});
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
  if (context.nodes) return Done{};  // the program is looked for on the nodes
  if (!script) {
    // A command of a scenario may be any wrapper; the agent is for what it starts.
    const bool wrapper = workload.launcher == LauncherKind::kCommand && !context.watched();
    const Status runs = check_program(program, env, cwd, !context.agent.empty() && !wrapper, workload.pos);
    if (!runs || !context.cuda) return runs;
    const std::string path = path_of(program, env, cwd);
    const Status serves = check_cuda_double(*context.cuda, workload, path);
    return serves ? check_python(*context.cuda, context, path, cwd) : serves;
  }
  // torchrun reads a Python file, or a module after -m.
  const bool module = program == "-m" || std::find(args.begin(), args.end(), "-m") != args.end();
  const std::string path = program[0] == '/' || cwd.empty() ? program : cwd + "/" + program;
  if (!module && program.ends_with(".py") && !std::filesystem::is_regular_file(path))
    return usage_error(path + ": no such script", workload.pos);
  return context.cuda ? check_torchrun(*context.cuda, workload) : Status(Done{});
}

}  // namespace rankfault
