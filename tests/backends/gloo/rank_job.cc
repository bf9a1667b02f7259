#include "tests/backends/gloo/rank_job.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/rankfault-gloo.XXXXXX";
    path_ = mkdtemp(name) ? name : "/tmp";
    fs::create_directory(path_ + "/records");
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  close(fd);
  return ntohs(address.sin_port);
}

void write_control_page(const std::string& path, const std::vector<ArmedRequest>& requests) {
  auto page = std::make_unique<rf_control>();
  std::memset(static_cast<void*>(page.get()), 0, sizeof(*page));
  page->magic = RF_CONTROL_MAGIC;
  page->abi_version = RF_ABI_VERSION;
  page->control_bytes = sizeof(*page);
  page->park_limit_ns = 2000000000;
  for (const ArmedRequest& request : requests) {
    rf_armed& armed = page->armed[page->armed_count];
    page->armed_ops[request.op / 64] |= 1ull << (request.op % 64);
    armed.id = page->armed_count++;
    armed.verb = request.verb;
    armed.rank = request.rank;
    armed.attempt = -1;
    armed.op = request.op;
    armed.edge = RF_EDGE_BEFORE;
    armed.step = -1;
    armed.nth = request.nth;
    armed.every = request.every;
    armed.times = request.every ? UINT64_MAX : 1;
    armed.library = request.library;
    armed.after = -1;
    armed.arg[0] = request.arg0;
    armed.arg[1] = request.arg1;
  }
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(page.get()), sizeof(*page));
}

// Runs in the child, between fork and exec.
[[noreturn]] void become_rank(const RankJob& job, const Folder& folder, int rank, int port) {
  const int out = open((folder / ("out." + std::to_string(rank))).c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(out, 1);
  dup2(out, 2);
  std::map<std::string, std::string> env = job.env;
  env["RANK"] = env["LOCAL_RANK"] = std::to_string(rank);
  env["WORLD_SIZE"] = std::to_string(job.ranks);
  env["MASTER_ADDR"] = "127.0.0.1";
  env["MASTER_PORT"] = std::to_string(port);
  env["GLOO_SOCKET_IFNAME"] = "lo";
  env["OMP_NUM_THREADS"] = "1";
  env["TMPDIR"] = folder / "";
  if (job.agent) {
    env["LD_PRELOAD"] = environment("RANKFAULT_BUILD_DIR") + "/lib/librankfault_agent.so";
    std::string run = folder / "";
    run.pop_back();
    env["RANKFAULT_RUN_DIR"] = run;
    if (!job.armed.empty()) env["RANKFAULT_CONTROL"] = folder / "control";
  }
  for (const auto& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
  alarm(120);  // ends a rank that hangs; the alarm survives exec
  std::vector<char*> words;
  for (const std::string& word : job.argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<rf_action_record> actions_in(const std::string& records) {
  std::vector<rf_action_record> all;
  for (const auto& entry : fs::directory_iterator(records)) {
    if (entry.path().extension() != ".actions") continue;
    const std::string bytes = text_of(entry.path());
    rf_actions_header header{};
    if (bytes.size() < 4096) continue;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (uint64_t i = 0; i < header.claimed && 4096 + (i + 1) * sizeof(rf_action_record) <= bytes.size();
         ++i) {
      rf_action_record record{};
      std::memcpy(&record, bytes.data() + 4096 + i * sizeof record, sizeof record);
      if (record.commit == i + 1) all.push_back(record);
    }
  }
  return all;
}

}  // namespace

RankJobEnd run_ranks(const RankJob& job) {
  const Folder folder;
  if (!job.armed.empty()) write_control_page(folder / "control", job.armed);
  const int port = free_port();
  std::vector<pid_t> pids;
  for (int rank = 0; rank < job.ranks; ++rank) {
    pids.push_back(fork());
    if (pids.back() == 0) become_rank(job, folder, rank, port);
  }
  RankJobEnd end;
  for (int rank = 0; rank < job.ranks; ++rank) {
    int status = 0;
    waitpid(pids[static_cast<size_t>(rank)], &status, 0);
    end.status.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    end.out[rank] = text_of(folder / ("out." + std::to_string(rank)));
    std::istringstream lines(end.out[rank]);
    for (std::string line; std::getline(lines, line);)
      if (line.rfind("{\"rank\"", 0) == 0) end.book[rank] = Json::parse(line, nullptr, false);
  }
  if (job.agent) end.records = read_flight_records(folder / "");
  if (job.agent) end.actions = actions_in(folder / "records");
  return end;
}

std::string said_by_failed(const RankJobEnd& end) {
  std::string said;
  for (size_t rank = 0; rank < end.status.size(); ++rank)
    if (end.status[rank] != 0)
      said += "rank " + std::to_string(rank) + ": " + end.out.at(static_cast<int>(rank)) + "\n";
  return said;
}

std::string program(const std::string& name) { return environment("RANKFAULT_BUILD_DIR") + "/bin/" + name; }

std::string torch_python() {
  const std::string named = environment("RANKFAULT_PYTHON");
  const std::string python = named.empty() ? "python3" : named;
  const std::string probe = python +
                            " -c 'import torch.distributed as d, torch, sys;"
                            "sys.exit(not (torch.__version__.startswith((\"1.13\", \"2.\")) and "
                            "d.is_gloo_available() and torch.compiled_with_cxx11_abi()))' 2>/dev/null";
  return std::system(probe.c_str()) == 0 ? python : "";
}

}  // namespace rankfault::test
