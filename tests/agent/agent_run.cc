#include "tests/agent/agent_run.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace rankfault::test {
namespace fs = std::filesystem;

Mapped::Mapped(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat st {};
  if (fd < 0 || fstat(fd, &st) != 0) throw std::runtime_error("cannot open " + path);
  size_ = static_cast<size_t>(st.st_size);
  void* at = mmap(nullptr, size_ ? size_ : 1, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  data_ = static_cast<char*>(at);
}
Mapped::Mapped(Mapped&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
Mapped::~Mapped() {
  if (data_) munmap(data_, size_ ? size_ : 1);
}

std::vector<rf_record> Ring::records(uint32_t index, int* torn) const {
  std::vector<rf_record> found;
  if (torn) *torn = 0;
  const uint64_t offset = RF_LANE_HISTORY_OFFSET(index);
  if (!lane(index).mapped || file.size() < offset + RF_LANE_HISTORY_BYTES) return found;
  const auto* all = reinterpret_cast<const rf_record*>(file.at(offset));
  const uint64_t head = lane(index).head;
  for (uint64_t i = head > RF_LANE_RECORDS ? head - RF_LANE_RECORDS : 0; i < head; ++i) {
    const rf_record r = all[i % RF_LANE_RECORDS];
    if (r.commit == i + 1)
      found.push_back(r);
    else if (torn)
      ++*torn;
  }
  return found;
}

int Ring::count(uint16_t op, uint8_t phase) const {
  int n = 0;
  for (uint32_t l = 0; l <= RF_MAX_LANES; ++l)
    for (const rf_record& r : records(l)) n += r.op == op && r.phase == phase;
  return n;
}

std::vector<rf_action_record> Actions::records() const {
  std::vector<rf_action_record> found;
  const auto* all = reinterpret_cast<const rf_action_record*>(file.at(4096));
  for (uint64_t i = 0; i < header().claimed && i < RF_MAX_ACTION_RECORDS; ++i)
    if (all[i].commit == i + 1) found.push_back(all[i]);
  return found;
}

AgentRun::AgentRun(const std::string& below) {
  std::string pattern = below + "/rfagent.XXXXXX";
  if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
  folder_ = pattern;
  fs::create_directory(folder_ + "/records");
  const std::string page = folder_ + "/control";
  const int fd = open(page.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (ftruncate(fd, sizeof(rf_control)) != 0) throw std::runtime_error("control page");
  control_ =
      static_cast<rf_control*>(mmap(nullptr, sizeof(rf_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  close(fd);
  control_->magic = RF_CONTROL_MAGIC;
  control_->abi_version = RF_ABI_VERSION;
  control_->control_bytes = sizeof(rf_control);
  control_->park_limit_ns = 2'000'000'000;
  env = {{"RANKFAULT_RUN_DIR", folder_},
         {"RANKFAULT_CONTROL", page},
         {"RANK", "0"},
         {"WORLD_SIZE", "4"},
         {"RANKFAULT_DECODERS", RF_TEST_DECODERS},
         {"PATH", "/usr/bin:/bin"}};
}

AgentRun::~AgentRun() {
  stop_answering();
  munmap(control_, sizeof(rf_control));
  fs::remove_all(folder_);
}

pid_t AgentRun::start(std::vector<std::string> behaviour) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : env) settings.push_back(key + "=" + value);
  if (!agent.empty()) settings.push_back("LD_PRELOAD=" + agent);
  behaviour.insert(behaviour.begin(), program);
  std::vector<char*> argv, envp;
  for (auto& a : behaviour) argv.push_back(a.data());
  for (auto& e : settings) envp.push_back(e.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, (folder_ + "/out").c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_addopen(&files, 2, (folder_ + "/err").c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  pid_t pid = -1;
  const int rc = posix_spawn(&pid, program.c_str(), &files, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&files);
  if (rc != 0) throw std::runtime_error("cannot start the subject");
  return pid;
}

int AgentRun::wait(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::string AgentRun::out() const {
  std::ostringstream text;
  for (const char* name : {"/out", "/err"}) {
    std::ifstream file(folder_ + name);
    text << std::string(std::istreambuf_iterator<char>(file), {});
  }
  return text.str();
}

std::vector<std::string> AgentRun::files(const std::string& end) const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder_ + "/records"))
    if (entry.path().extension() == end) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

Ring AgentRun::ring() const {
  const auto all = rings();
  if (all.size() != 1) throw std::runtime_error(std::to_string(all.size()) + " rings instead of one");
  return Ring(all[0]);
}

rf_armed& AgentRun::arm(uint16_t op, uint32_t verb) {
  rf_armed& a = control_->armed[control_->armed_count];
  a.id = control_->armed_count++;
  a.verb = verb;
  a.attempt = -1;
  a.op = op;
  a.ask = 1;
  a.step = -1;
  a.nth = 1;
  a.times = 1;
  a.after = -1;
  control_->armed_ops[op / 64] |= uint64_t{1} << (op % 64);
  return a;
}

void AgentRun::answer_with(Answer answer) {
  harness_ = std::thread([this, answer = std::move(answer)] { answer_all(answer); });
}

void AgentRun::answer_all(const Answer& answer) {
  while (!__atomic_load_n(&stop_, __ATOMIC_ACQUIRE)) {
    const uint32_t bell = RF_LOAD(&control_->doorbell);
    for (rf_gate_slot& slot : control_->slots) {
      const uint32_t state = RF_LOAD(&slot.state);
      if (state == RF_GATE_ASKED) {
        seen_.push_back(slot);
        const rf_answer a = answer(slot);
        if (a == RF_ANSWER_NONE) continue;
        if (a != RF_ANSWER_NO_GO)
          __atomic_fetch_add(&control_->armed[slot.action].fired, 1, __ATOMIC_ACQ_REL);
        RF_STORE(&slot.answer, static_cast<uint32_t>(a));
        RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_ANSWERED));
        syscall(SYS_futex, &slot.state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
      } else if (state == RF_GATE_DONE || state == RF_GATE_ABANDONED) {
        RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_FREE));
      }
    }
    const timespec bound{0, 20'000'000};
    syscall(SYS_futex, &control_->doorbell, FUTEX_WAIT, bell, &bound, nullptr, 0);
  }
}

void AgentRun::stop_answering() {
  if (!harness_.joinable()) return;
  __atomic_store_n(&stop_, true, __ATOMIC_RELEASE);
  harness_.join();
  stop_ = false;
}

}  // namespace rankfault::test
