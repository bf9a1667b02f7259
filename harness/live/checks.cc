// checks: see checks.h. No shell: the words of the command are what the program gets.
#include "harness/live/checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/base/printable.h"
#include "harness/base/unique_fd.h"
#include "harness/scenario/params.h"

namespace rankfault {
namespace {

constexpr size_t kKeptBytes = 64 * 1024;  // of its output, in the run directory
constexpr size_t kSaidBytes = 200;        // of its last line, in the journal
constexpr int kPollMs = 20;

std::vector<std::string> command_of(const ExpectationSpec& spec, const LaunchContext& context) {
  std::vector<std::string> argv = read_texts(spec.params, "command");
  for (std::string& word : argv) word = expand(word, context, -1);
  return argv;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// A process in a group of its own, so that what it started can be ended with it. -1 and errno when refused.
pid_t start(std::vector<std::string> argv, const LaunchContext& context, int output) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : job_environment(context, -1)) variables.push_back(name + "=" + value);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, 1);
  ::posix_spawn_file_actions_adddup2(&files, output, 2);
  const std::string cwd = expand(context.plan.scenario.workload.cwd, context, -1);
  if (!cwd.empty()) ::posix_spawn_file_actions_addchdir_np(&files, cwd.c_str());
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int refused = ::posix_spawnp(&pid, argv[0].c_str(), &files, &attributes, pointers_to(argv).data(),
                                     pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  errno = refused;
  return refused == 0 ? pid : -1;
}

// What a command said: all of it in the digest, its beginning kept, its last line for people.
class Output {
 public:
  // False: there will be no more.
  bool read_from(int fd) {
    char bytes[4096];
    for (;;) {
      const ssize_t n = ::read(fd, bytes, sizeof bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN;
      if (n == 0) return false;
      add(bytes, static_cast<size_t>(n));
      if (static_cast<size_t>(n) < sizeof bytes) return true;
    }
  }
  Json json() const {
    const std::string& last = line_.empty() ? last_ : line_;
    return {{"bytes", bytes_}, {"digest", fmt::format("{:016x}", digest_)}, {"said", printable(last)}};
  }
  const std::string& kept() const { return kept_; }

 private:
  void add(const char* bytes, size_t n) {
    bytes_ += n;
    digest_ = rf_hash_bytes(digest_, bytes, n);
    kept_.append(bytes, std::min(n, kKeptBytes - kept_.size()));
    for (size_t i = 0; i < n; ++i) {
      if (bytes[i] == '\n') {
        if (!line_.empty()) last_ = std::move(line_);
        line_.clear();
      } else if (line_.size() < kSaidBytes) {
        line_ += bytes[i];
      }
    }
  }

  uint64_t bytes_ = 0, digest_ = 0;
  std::string kept_, line_, last_;
};

// Waits for its end, the limit, or the user.
Json watch(pid_t pid, int pipe_end, TimeNs deadline, const std::atomic<int>* interrupted, Output& output) {
  pollfd readable{pipe_end, POLLIN, 0};
  const char* ended_by_us = nullptr;
  int status = 0;
  for (;;) {
    if (::poll(&readable, 1, kPollMs) > 0 && !output.read_from(pipe_end)) readable.fd = -1;
    if (::waitpid(pid, &status, WNOHANG) == pid) break;
    if (now_ns() >= deadline) ended_by_us = "timeout";
    if (interrupted && *interrupted != 0) ended_by_us = "interrupted";
    if (!ended_by_us) continue;
    ::kill(-pid, SIGKILL);  // our child, not reaped yet: the group is its own
    ::waitpid(pid, &status, 0);
    break;
  }
  ::kill(-pid, SIGKILL);  // what it left running in its group
  if (readable.fd >= 0) (void)output.read_from(pipe_end);
  if (ended_by_us) return {{"kind", ended_by_us}};
  if (WIFSIGNALED(status)) return {{"kind", "signal"}, {"value", WTERMSIG(status)}};
  return {{"kind", "exit"}, {"value", WEXITSTATUS(status)}};
}

Json run_one(const std::vector<std::string>& argv, Duration limit, const LaunchContext& context,
             const std::atomic<int>* interrupted, Output& output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return {{"kind", "not_started"}, {"why", errno_error("pipe").message}};
  UniqueFd ours(ends[0]), theirs(ends[1]);
  ::fcntl(theirs.get(), F_SETFL, 0);  // the program's own end blocks, as any pipe does
  const TimeNs begin = now_ns();
  const pid_t pid = start(argv, context, theirs.get());
  if (pid < 0) return {{"kind", "not_started"}, {"why", std::strerror(errno)}};
  theirs.reset();
  Json line = watch(pid, ours.get(), begin + static_cast<TimeNs>(limit.count()), interrupted, output);
  line["took_ns"] = now_ns() - begin;
  return line;
}

template <typename Do>
void for_each_check(const Scenario& scenario, Do what) {
  for (const ExpectationSpec& spec : scenario.expect)
    if (spec.oracle == "check") what(spec);
}

}  // namespace

Status checks_can_start(const LaunchContext& context) {
  Status all = Done{};
  const auto env = job_environment(context, -1);
  const std::string cwd = expand(context.plan.scenario.workload.cwd, context, -1);
  for_each_check(context.plan.scenario, [&](const ExpectationSpec& spec) {
    if (all) all = check_program(command_of(spec, context).at(0), env, cwd, false, spec.pos);
  });
  return all;
}

void run_checks(const LaunchContext& context, bool job_is_over, const std::atomic<int>* interrupted,
                Journal& journal) {
  int number = 0;
  for_each_check(context.plan.scenario, [&](const ExpectationSpec& spec) {
    const std::vector<std::string> argv = command_of(spec, context);
    Json line = {{"kind", "not_run"}, {"why", "the job was ended by us"}};
    const std::string file = fmt::format("checks/check-{}.log", ++number);
    if (job_is_over && !(interrupted && *interrupted != 0)) {
      Output output;
      const Duration limit = read_duration(spec.params, "within").value_or(kCheckLimit);
      line = run_one(argv, limit, context, interrupted, output);
      line.update(output.json());
      std::error_code none;
      std::filesystem::create_directories(context.run.file("checks"), none);
      std::ofstream(context.run.file(file), std::ios::binary) << output.kept();
      line["output"] = file;
    }
    line["id"] = spec.id;
    Json words = Json::array();
    for (const std::string& word : argv) words.push_back(printable(word));
    line["argv"] = std::move(words);
    journal.write("check", std::move(line));
  });
}

}  // namespace rankfault
