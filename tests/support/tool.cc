#include "tests/support/tool.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/file_text.h"

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;

std::string from_env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int start(const std::string& program, const std::vector<std::string>& args,
          const std::map<std::string, std::string>& env, const std::string& output_path) {
  std::vector<std::string> words{program};
  words.insert(words.end(), args.begin(), args.end());
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : env) all[name] = value;
  // The job under `rankfault watch` keeps its TMPDIR, and killed launchers leave files there.
  if (!args.empty() && args[0] == "watch") all.emplace("TMPDIR", fs::path(output_path).parent_path());
  std::vector<std::string> texts;
  for (const auto& [name, value] : all) texts.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& text : texts) envp.push_back(text.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  int pid = -1;
  if (posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data()) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

std::string build_dir() { return from_env("RANKFAULT_BUILD_DIR"); }
std::string source_dir() { return from_env("RANKFAULT_SOURCE_DIR"); }

bool have_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

std::string python() {
  static const std::string found = [] {
    const std::string wanted =
        from_env("RANKFAULT_PYTHON").empty() ? "python3" : from_env("RANKFAULT_PYTHON");
    const std::string asks =
        "\"" + wanted +
        "\" -c 'import torch, sys; sys.exit(not (torch.__version__.startswith((\"1.13\", \"2.\"))"
        " and torch.compiled_with_cxx11_abi()))' "
        ">/dev/null 2>&1";
    return std::system(asks.c_str()) == 0 ? wanted : std::string();
  }();
  return found;
}

std::vector<std::string> torchrun() {
  static const bool of_1 =
      std::system(
          ("\"" + python() + "\" -c 'import torch, sys; sys.exit(not torch.__version__.startswith(\"1.\"))'")
              .c_str()) == 0;
  std::vector<std::string> words{python(), "-m", "torch.distributed.run", "--standalone"};
  if (of_1) words.insert(words.end(), {"--redirects=2", "--tee=1"});
  return words;
}

Scratch::Scratch() {
  std::string name = fs::temp_directory_path().string() + "/rankfault-test.XXXXXX";
  if (::mkdtemp(name.data())) path_ = name;
}

Scratch::~Scratch() {
  std::error_code none;
  if (!path_.empty()) fs::remove_all(path_, none);
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name)) << text;
  return file(name);
}

ToolRun run_tool(const std::vector<std::string>& args, const std::map<std::string, std::string>& env) {
  return run_tool_at(build_dir() + "/bin/rankfault", args, env);
}

ToolRun run_tool_at(const std::string& program, const std::vector<std::string>& args,
                    const std::map<std::string, std::string>& env) {
  const Scratch scratch;
  ToolRun run;
  const int pid = start(program, args, env, scratch.file("output"));
  if (pid < 0) return run;
  int status = 0;
  ::waitpid(pid, &status, 0);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.output = read_file(scratch.file("output"));
  return run;
}

int start_tool(const std::vector<std::string>& args, const std::string& output_path) {
  return start(build_dir() + "/bin/rankfault", args, {}, output_path);
}

std::string read_file(const std::string& path) { return text_of_file(path); }

Json result_of(const std::string& run_dir) {
  return Json::parse(read_file(run_dir + "/result.json"), nullptr, false);
}

std::vector<Json> findings_of(const std::string& run_dir) {
  const Json result = result_of(run_dir);
  if (!result.is_object() || !result.contains("findings")) return {};
  return result["findings"].get<std::vector<Json>>();
}

std::vector<std::string> shm_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("/dev/shm")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<int> processes_of_run(const std::string& run_dir) {
  std::vector<int> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::string environment = read_file(entry.path() / "environ");
    if (environment.find("RANKFAULT_RUN_DIR=" + run_dir) != std::string::npos) pids.push_back(pid);
  }
  return pids;
}

}  // namespace rankfault::test
