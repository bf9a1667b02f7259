// capture.cc: see capture.h.
#include "harness/base/capture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>

#include "harness/base/unique_fd.h"

extern char** environ;

namespace rankfault {
namespace {

std::string read_all(int fd, Instant deadline) {
  std::string text;
  char bytes[4096];
  for (Instant now = HostClock::now(); now < deadline; now = HostClock::now()) {
    pollfd readable{fd, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>((deadline - now) / 1ms) + 1) <= 0) continue;
    const ssize_t n = ::read(fd, bytes, sizeof bytes);
    if (n <= 0) break;
    text.append(bytes, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

Duration probe_limit() {
  const char* given = std::getenv("RANKFAULT_PROBE_LIMIT");
  const Result<Duration> limit = parse_duration(given ? given : "120s");
  return limit && *limit > Duration::zero() ? *limit : Duration(120s);
}

std::optional<std::string> capture(const std::vector<std::string>& argv, const CaptureOptions& options) {
  int ends[2];
  if (options.too_slow) *options.too_slow = false;
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  UniqueFd output(ends[0]), input(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), 1);
  if (options.with_stderr)
    ::posix_spawn_file_actions_adddup2(&actions, input.get(), 2);
  else
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int refused = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  input.reset();
  if (refused != 0) return std::nullopt;

  const Instant deadline = HostClock::now() + options.limit;
  std::string text = read_all(output.get(), deadline);
  int status = 0;
  const bool too_slow = HostClock::now() >= deadline;
  if (options.too_slow) *options.too_slow = too_slow;
  if (too_slow) ::kill(pid, SIGKILL);  // our child, not reaped yet: the pid cannot be reused
  ::waitpid(pid, &status, 0);
  if (status != 0) return std::nullopt;
  return text;
}

}  // namespace rankfault
