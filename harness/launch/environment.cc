// environment.cc: what a process of the job is told by its environment, and the words of a command.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/launch/launcher.h"
#include "harness/launch/own_folders.h"

extern char** environ;

namespace rankfault {
namespace {

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> env;
  for (char** entry = environ; *entry; ++entry)
    if (const char* equals = std::strchr(*entry, '='))
      env.emplace(std::string(*entry, static_cast<size_t>(equals - *entry)), equals + 1);
  return env;
}

std::string scenario_dir(const LaunchContext& context) {
  std::error_code error;
  const auto file = std::filesystem::absolute(context.plan.scenario.file, error);
  return (context.plan.scenario.file.empty() ? std::filesystem::current_path(error) : file.parent_path())
      .string();
}

}  // namespace

std::string expand(const std::string& word, const LaunchContext& context, int rank) {
  std::string result;
  for (size_t at = 0; at < word.size();) {
    const size_t open = word.find('{', at), close = word.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return result + word.substr(at);
    result += word.substr(at, open - at);
    const std::string name = word.substr(open + 1, close - open - 1);
    at = close + 1;
    if (name == "bin")
      result += context.bin_dir;
    else if (name == "rank" && rank >= 0)
      result += std::to_string(rank);
    else if (name == "ranks")
      result += std::to_string(context.plan.scenario.workload.ranks);
    else if (name == "store")
      result += fmt::format("{}/store.a{}", context.run.tmp(), context.attempt);
    else if (name == "tmp")
      result += context.run.tmp();
    else if (name == "attempt")
      result += std::to_string(context.attempt);
    else if (name == "scenario_dir")
      result += scenario_dir(context);
    else if (name == "run")
      result += context.run.path();
    else {  // not ours: JSON on a command line has braces too
      result += '{';
      at = open + 1;
    }
  }
  return result;
}

std::map<std::string, std::string> job_environment(const LaunchContext& context, int rank) {
  auto env = own_environment();
  // A run inside a run (a test of rankfault by rankfault) must not inherit the outer one's agent.
  for (const char* ours :
       {"RANKFAULT_RUN_DIR", "RANKFAULT_CONTROL", "RANKFAULT_ATTEMPT", "RANKFAULT_RENDEZVOUS"})
    env.erase(ours);
  env["TMPDIR"] = context.run.tmp();
  env["RANKFAULT_JOB"] = context.run.path();  // by which `clean` knows a process that lost its guardian
  if (context.cuda) add_cuda_double(*context.cuda, context.cuda_folder(), env);
  for (const auto& [name, value] : context.plan.scenario.workload.env)
    env[name] = expand(value, context, rank);
  if (context.cuda && context.plan.scenario.workload.env.count("LD_LIBRARY_PATH"))
    put_cuda_double_first(*context.cuda, env);
  return env;
}

std::map<std::string, std::string> agent_environment(const LaunchContext& context) {
  std::map<std::string, std::string> env;
  if (context.agent.empty()) return env;
  std::string preload = context.agent;
  for (const std::string& object : context.extra_preload) preload += ":" + object;
  const auto& own = context.plan.scenario.workload.env;
  const auto given = own.find("LD_PRELOAD");
  const char* inherited = std::getenv("LD_PRELOAD");
  const std::string before = given != own.end() ? given->second : inherited ? inherited : "";
  if (!before.empty()) preload += ":" + before;
  env["LD_PRELOAD"] = preload;
  env["RANKFAULT_RUN_DIR"] = context.run.path();
  env["RANKFAULT_CONTROL"] = context.run.control();
  if (context.plan.scenario.workload.launcher != LauncherKind::kTorchrun)  // torchrun counts its own restarts
    env["RANKFAULT_ATTEMPT"] = std::to_string(context.attempt);
  return env;
}

std::string LaunchContext::cuda_folder() const { return run.tmp() + "/" + cuda_folder_name(attempt); }

std::string launcher_log(const RunDir& run, int attempt) {
  return fmt::format("{}/launcher.a{}.log", run.logs(), attempt);
}

std::string rank_log(const RunDir& run, int rank, int attempt) {
  return fmt::format("{}/rank-{}.a{}.log", run.logs(), rank, attempt);
}

}  // namespace rankfault
