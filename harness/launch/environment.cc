// environment.cc: the environment of a process of the job, and the words of a command.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "harness/base/own_environment.h"
#include "harness/launch/launcher.h"
#include "harness/launch/launchers/torchrun_program.h"
#include "harness/launch/own_folders.h"

namespace rankfault {
namespace {

std::string store_of(const LaunchContext& context) {
  return fmt::format("{}/store.a{}", context.run.tmp(), context.attempt);
}

// The words of an LD_PRELOAD: ld.so splits at blanks and colons.
std::vector<std::string> preload_words(const std::string& value) {
  std::vector<std::string> words;
  for (size_t at = 0; at < value.size();) {
    const size_t end = std::min(value.find_first_of(" :", at), value.size());
    if (end > at) words.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// AddressSanitizer ends a process in which it is preloaded but not first.
bool must_come_first(const std::string& object) {
  return object.find("libasan.so") != std::string::npos ||
         object.find("libclang_rt.asan") != std::string::npos;
}

std::string joined_preload(const std::vector<std::string>& ours, const std::string& before) {
  std::vector<std::string> words = preload_words(before);
  const auto behind = std::find_if_not(words.begin(), words.end(), must_come_first);
  words.insert(behind, ours.begin(), ours.end());
  return fmt::format("{}", fmt::join(words, ":"));
}

std::string scenario_dir(const LaunchContext& context) {
  std::error_code error;
  const auto file = std::filesystem::absolute(context.plan.scenario.file, error);
  return (context.plan.scenario.file.empty() ? std::filesystem::current_path(error) : file.parent_path())
      .string();
}

// torchrun counts its own restarts, and a command may start a torchrun.
bool restarts_by_itself(const Workload& workload) {
  return workload.launcher == LauncherKind::kTorchrun ||
         (workload.launcher == LauncherKind::kCommand && workload.restarts == 0);
}

// The length of the "{{word}}" at `open`, which stands for "{word}"; 0: there is none.
size_t length_of_literal(const std::string& word, size_t open) {
  const size_t end = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", open + 2);
  const bool doubled = word.compare(open, 2, "{{") == 0 && end != std::string::npos && end > open + 2;
  return doubled && word.compare(end, 2, "}}") == 0 ? end + 2 - open : 0;
}

// The one that torchrun would use, so that a rank without torchrun has the same PyTorch.
std::string python_of(const Workload& workload) {
  const TorchrunProgram& program = torchrun_program(workload);
  return program.python.empty() ? "python3" : program.python;
}

}  // namespace

std::string expand(const std::string& word, const LaunchContext& context, int rank) {
  if (context.watched()) return word;
  std::string result;
  for (size_t at = 0; at < word.size();) {
    const size_t open = word.find('{', at), close = word.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return result + word.substr(at);
    result += word.substr(at, open - at);
    if (const size_t taken = length_of_literal(word, open)) {  // {{word}}
      result += word.substr(open + 1, taken - 2);
      at = open + taken;
      continue;
    }
    const std::string name = word.substr(open + 1, close - open - 1);
    at = close + 1;
    if (name == "bin")
      result += context.bin_dir;
    else if (name == "rank" && rank >= 0)
      result += std::to_string(rank);
    else if (name == "ranks")
      result += std::to_string(context.plan.scenario.workload.ranks);
    else if (name == "store")
      result += store_of(context);
    else if (name == "tmp")
      result += context.run.tmp();
    else if (name == "attempt")
      result += std::to_string(context.attempt);
    else if (name == "scenario_dir")
      result += scenario_dir(context);
    else if (name == "run")
      result += context.run.path();
    else if (name == "python")
      result += python_of(context.plan.scenario.workload);
    else {  // not ours: JSON on a command line has braces too
      result += '{';
      at = open + 1;
    }
  }
  return result;
}

std::map<std::string, std::string> job_environment(const LaunchContext& context, int rank) {
  auto env = own_environment();
  // A run inside a run (rankfault tested by rankfault) must not inherit the outer one's agent.
  for (const char* ours :
       {"RANKFAULT_RUN_DIR", "RANKFAULT_CONTROL", "RANKFAULT_ATTEMPT", "RANKFAULT_RENDEZVOUS"})
    env.erase(ours);
  if (!context.run.job_tmpdir().empty()) env["TMPDIR"] = context.run.job_tmpdir();
  env["RANKFAULT_JOB"] = context.run.path();  // `clean` recognizes a process that lost its guardian by this
  if (context.cuda)
    add_cuda_double(*context.cuda, context.plan.scenario.workload.ranks, context.cuda_folder(), env);
  for (const auto& [name, value] : context.plan.scenario.workload.env)
    env[name] = expand(value, context, rank);
  if (context.cuda && context.plan.scenario.workload.env.count("LD_LIBRARY_PATH"))
    put_cuda_double_first(*context.cuda, env);
  return env;
}

void make_folder(const LaunchContext& context, const std::string& path) {
  std::error_code error;
  if (!context.run.is_planned()) std::filesystem::create_directories(path, error);
}

void make_store(const LaunchContext& context) { make_folder(context, store_of(context)); }

std::map<std::string, std::string> agent_environment(const LaunchContext& context,
                                                     const std::optional<std::string>& given) {
  std::map<std::string, std::string> env;
  if (context.agent.empty()) return env;
  std::vector<std::string> ours{context.agent};
  ours.insert(ours.end(), context.extra_preload.begin(), context.extra_preload.end());
  const auto& own = context.plan.scenario.workload.env;
  const auto written = own.find("LD_PRELOAD");
  const char* inherited = std::getenv("LD_PRELOAD");
  const std::string before = given                  ? *given
                             : written != own.end() ? written->second
                             : inherited            ? inherited
                                                    : "";
  env["LD_PRELOAD"] = joined_preload(ours, before);
  env["RANKFAULT_RUN_DIR"] = context.run.path();
  env["RANKFAULT_CONTROL"] = context.run.control();
  if (!restarts_by_itself(context.plan.scenario.workload))
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
