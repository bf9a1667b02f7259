// fixture.cc: see fixture.h.
#include "tests/launch/fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/base/process_tree.h"
#include "harness/launch/clean_run.h"
#include "harness/launch/gather.h"

namespace rankfault::test {

namespace fs = std::filesystem;

bool is_alive(int pid) {
  const auto stat = proc_stat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

int first_number(const std::string& path) { return std::atoi(read_text(path).c_str()); }

std::vector<std::string> shm_names(const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().rfind(prefix, 0) == 0) names.push_back(entry.path());
  return names;
}

std::vector<int> processes_naming(const std::string& run_dir) {
  std::vector<int> pids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == ::getpid() || !is_alive(pid)) continue;
    const std::string words = read_text(entry.path() / "cmdline") + read_text(entry.path() / "environ");
    if (words.find(run_dir) != std::string::npos) pids.push_back(pid);
  }
  return pids;
}

std::string bin_dir() { return fs::read_symlink("/proc/self/exe").parent_path(); }
std::string subject() { return bin_dir() + "/launch_subject"; }

Scratch::Scratch() {
  char name[] = "/tmp/rftest.XXXXXX";
  if (!::mkdtemp(name)) throw std::runtime_error("mkdtemp");
  path_ = name;
}
Scratch::~Scratch() {
  std::error_code error;
  fs::remove_all(path_, error);
}

ToolProcess::ToolProcess(const std::vector<std::string>& args, const std::map<std::string, std::string>& env,
                         const std::string& output) {
  const std::string program = bin_dir() + "/launch_tool";
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) words.push_back(const_cast<char*>(arg.c_str()));
  words.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(out, 1);
  ::execv(words[0], words.data());
  ::_exit(127);
}

void ToolProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void GuardianTest::SetUp() {
  static int count = 0;
  unique_ = fmt::format("rftest-{}-{}", ::getpid(), ++count);
  Result<RunDir> run = RunDir::create(scratch_ / "run", "test");
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  run_.emplace(std::move(*run));
  Result<Guardian> guardian = Guardian::start(*run_);
  ASSERT_TRUE(guardian.ok()) << guardian.error().to_string();
  guardian_.emplace(std::move(*guardian));
}

void GuardianTest::TearDown() {
  guardian_.reset();
  if (run_) {
    const std::string path = run_->path(), tmp = run_->tmp();
    run_.reset();
    EXPECT_TRUE(clean_run(path).ok());
    EXPECT_FALSE(fs::exists(tmp));
    EXPECT_TRUE(processes_naming(path).empty());
  }
  EXPECT_TRUE(shm_names(unique_).empty());
}

Command GuardianTest::command(std::vector<std::string> words, const std::string& ready) const {
  Command command;
  command.argv = {subject()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.env = {{"PATH", "/usr/bin:/bin"}, {"RANKFAULT_JOB", run_->path()}};
  if (!ready.empty()) command.env["SUBJECT_READY"] = ready;
  command.stdout_path = command.stderr_path = run_->file("logs/subject.log");
  return command;
}

std::optional<GuardianEvent> GuardianTest::wait_for(GuardianEvent::Kind kind) {
  std::optional<GuardianEvent> found;
  eventually([&] {
    while (auto event = guardian_->next()) kept_.push_back(*event);
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
      if (it->kind == kind) {
        found = *it;
        kept_.erase(it);
        return true;
      }
    return false;
  });
  return found;
}

std::optional<GuardianEvent> GuardianTest::end_of(int pid) {
  std::optional<GuardianEvent> found;
  eventually([&] {
    while (auto event = guardian_->next()) kept_.push_back(*event);
    for (const GuardianEvent& event : kept_)
      if (event.kind == GuardianEvent::Kind::kEnded && event.pid == pid) found = event;
    return found.has_value();
  });
  return found;
}

GuardianEvent GuardianTest::spawn(const std::vector<std::string>& words) {
  EXPECT_TRUE(guardian_->spawn(++tag_, command(words)).ok());
  const auto spawned = wait_for(GuardianEvent::Kind::kSpawned);
  EXPECT_TRUE(spawned);
  return spawned.value_or(GuardianEvent{});
}

GuardianEvent GuardianTest::spawn_ready(const std::vector<std::string>& words) {
  const std::string ready = scratch_ / fmt::format("ready.{}", ++tag_);
  EXPECT_TRUE(guardian_->spawn(tag_, command(words, ready)).ok());
  const auto spawned = wait_for(GuardianEvent::Kind::kSpawned);
  EXPECT_TRUE(spawned);
  EXPECT_TRUE(eventually([&] { return first_number(ready) > 0; }));
  return spawned.value_or(GuardianEvent{});
}

void GuardianTest::census() { ASSERT_TRUE(guardian_->census(30s).ok()); }

std::string GuardianTest::undo_text() const { return read_text(run_->undo()); }

}  // namespace rankfault::test
