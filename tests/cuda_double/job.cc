#include "tests/cuda_double/job.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rankfault::test {
namespace {

std::map<std::string, std::string> environment_of(const GpulessJob& job, const std::string& folder,
                                                  int rank) {
  const std::string libraries = std::string(getenv("RANKFAULT_BUILD_DIR")) + "/lib/cuda_double";
  std::map<std::string, std::string> all = {
      {"LD_LIBRARY_PATH", libraries + "/nccl-" + job.version + ":" + libraries},
      {"RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(job.ranks)},
      {"MEET", folder},
      {"RANKFAULT_CUDA_FOLDER", folder},
      // loopback and /dev/shm, as on one host without peer access
      {"NCCL_SOCKET_IFNAME", "lo"},
      {"NCCL_P2P_DISABLE", "1"},
      {"NCCL_IB_DISABLE", "1"},
      {"NCCL_CUMEM_ENABLE", "0"},
      {"NCCL_CUMEM_HOST_ENABLE", "0"},
      {"NCCL_RAS_ENABLE", "0"},  // its port belongs to the host: two jobs at once would share it
  };
  for (const auto& [name, value] : job.environment) all[name] = value;
  return all;
}

std::vector<std::string> words_of(const GpulessJob& job, const std::string& folder, int rank) {
  std::vector<std::string> words = job.words;
  if (const auto more = job.more_words.find(rank); more != job.more_words.end())
    words.insert(words.end(), more->second.begin(), more->second.end());
  const std::string place = "{folder}";
  for (std::string& word : words)
    if (const size_t at = word.find(place); at != std::string::npos) word.replace(at, place.size(), folder);
  return words;
}

pid_t start(const GpulessJob& job, const std::string& folder, int rank) {
  const std::string program = std::string(getenv("RANKFAULT_BUILD_DIR")) + "/bin/" + job.program;
  const auto environment = environment_of(job, folder, rank);
  const auto given = words_of(job, folder, rank);
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  const int log = open((folder + "/said." + std::to_string(rank)).c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(log, 1);
  dup2(log, 2);
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& word : given) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  _exit(127);
}

}  // namespace

GpulessJob::Ended GpulessJob::run() const {
  char name[] = "/tmp/rf-cuda_double-XXXXXX";
  const std::string folder = mkdtemp(name);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) children.push_back(start(*this, folder, rank));
  Ended ended;
  for (int rank = 0; rank < ranks; ++rank) {
    int status = -1;
    waitpid(children[static_cast<size_t>(rank)], &status, 0);
    std::ostringstream said;
    said << std::ifstream(folder + "/said." + std::to_string(rank)).rdbuf();
    ended.status.push_back(status);
    ended.said.push_back(said.str());
  }
  std::filesystem::remove_all(folder);
  return ended;
}

bool GpulessJob::Ended::all_exited_0() const {
  for (int one : status) {
    if (one != 0) return false;
  }
  return !status.empty();
}

std::string GpulessJob::Ended::text() const {
  std::string all;
  for (size_t i = 0; i < status.size(); ++i)
    all += "rank " + std::to_string(i) + ": status " + std::to_string(status[i]) + "\n" + said[i];
  return all;
}

std::vector<std::string> built_nccl_versions() {
  std::vector<std::string> versions;
  std::istringstream words(RANKFAULT_NCCL_VERSIONS);
  for (std::string word; words >> word;) versions.push_back(word);
  if (versions.empty()) versions.push_back("none");
  return versions;
}

std::vector<std::string> newest_nccl_version() { return {built_nccl_versions().back()}; }

std::vector<std::string> older_nccl_versions() {
  std::vector<std::string> versions = built_nccl_versions();
  versions.pop_back();
  return versions;
}

std::string version_name(const ::testing::TestParamInfo<std::string>& version) {
  std::string name = version.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace rankfault::test
