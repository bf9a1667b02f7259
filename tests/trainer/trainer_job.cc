// TrainerJob: fork, exec, one pipe for the output, wait.
#include "tests/trainer/trainer_job.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace trainer {

namespace {

namespace fs = std::filesystem;

// noexcept: an exception here would continue as a second test runner, which also forks.
[[noreturn]] void become_rank(const Job& job, int rank, const std::string& store, int output) noexcept {
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(job.world_size).c_str(), 1);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<std::string> words = {std::string(std::getenv("RANKFAULT_BUILD_DIR")) + "/bin/trainer",
                                    "--store=" + store};
  words.insert(words.end(), job.arguments.begin(), job.arguments.end());
  if (auto more = job.only_for_rank.find(rank); more != job.only_for_rank.end()) {
    words.insert(words.end(), more->second.begin(), more->second.end());
  }
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

std::string read_to_end(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(descriptor, buffer, sizeof buffer)) > 0;) text.append(buffer, got);
  return text;
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

std::string JobResult::weights() const {
  const size_t at = output.find("weights ");
  return at == std::string::npos ? "" : output.substr(at + 8, 16);
}

JobResult run_job(const Job& job) {
  if (!std::getenv("RANKFAULT_BUILD_DIR")) throw std::runtime_error("RANKFAULT_BUILD_DIR is not set");
  std::string store = (fs::temp_directory_path() / "trainer_store.XXXXXX").string();
  int pipe_ends[2];
  if (!mkdtemp(store.data()) || pipe(pipe_ends) != 0) throw std::runtime_error("no store or pipe");
  std::vector<pid_t> children;
  for (int rank = 0; rank < job.world_size; ++rank) {
    const pid_t child = fork();
    if (child == 0) become_rank(job, rank, store, pipe_ends[1]);
    children.push_back(child);
  }
  close(pipe_ends[1]);
  JobResult result;
  result.output = read_to_end(pipe_ends[0]);
  close(pipe_ends[0]);
  for (pid_t child : children) result.exit_codes.push_back(wait_for(child));
  fs::remove_all(store);
  return result;
}

}  // namespace trainer
