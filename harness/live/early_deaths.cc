#include "harness/live/early_deaths.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <mutex>

#include "harness/agent/agent_abi.h"
#include "harness/base/process_tree.h"
#include "harness/base/rank_end.h"
#include "harness/base/unique_fd.h"

namespace rankfault {
namespace {

// <linux/futex.h> of Linux 5.16; some machines have older headers.
constexpr long kFutexWaitv = 449;
constexpr size_t kMostInOneWait = 128;
constexpr uint32_t kWord32 = 2, kPrivate = 128;
struct FutexWaitv {
  uint64_t value, address;
  uint32_t flags, reserved;
};

long futex(void* word, int operation, uint32_t value) {
  return ::syscall(SYS_futex, word, operation, value, nullptr, nullptr, 0);
}

// The kernel compares the value and moves no waiter. A word that cannot be read counts as changed.
bool is_still(void* word, uint32_t value) {
  return ::syscall(SYS_futex, word, FUTEX_CMP_REQUEUE, 0, 0, word, value) == 0;
}

}  // namespace

void EarlyDeaths::Unmap::operator()(void* word) const {
  const auto at = reinterpret_cast<uintptr_t>(word) & ~uintptr_t{RF_HEADER_BYTES - 1};
  ::munmap(reinterpret_cast<void*>(at), RF_HEADER_BYTES);
}

EarlyDeaths::EarlyDeaths(Promptness& promptness, std::function<void(uint64_t)> report)
    : promptness_(promptness), report_(std::move(report)), thread_([this] { watch(); }) {}

EarlyDeaths::~EarlyDeaths() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake();
  thread_.join();
}

void EarlyDeaths::add(const std::string& record, const ProcessId& process, uint64_t token) {
  const UniqueFd fd(::open(record.c_str(), O_RDONLY | O_CLOEXEC));
  uint32_t alive = 0;
  constexpr off_t kWord = offsetof(rf_header, life);
  if (!fd.valid() || ::pread(fd.get(), &alive, sizeof alive, kWord) != sizeof alive) return;
  if ((alive & FUTEX_TID_MASK) == 0 || (alive & FUTEX_OWNER_DIED) != 0) return;
  void* header = ::mmap(nullptr, RF_HEADER_BYTES, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (header == MAP_FAILED) return;
  std::unique_ptr<void, Unmap> word(static_cast<char*>(header) + kWord);
  {
    const std::lock_guard lock(mutex_);
    if (watched_.size() + 1 >= kMostInOneWait) return;
    watched_[token] = {process, std::move(word), alive};
  }
  wake();
}

void EarlyDeaths::forget(uint64_t token) {
  const std::lock_guard lock(mutex_);
  watched_.erase(token);  // the thread checks again when it wakes; it does not wait on an address of ours
}

void EarlyDeaths::wake() {
  __atomic_fetch_add(&changes_, 1, __ATOMIC_SEQ_CST);
  futex(&changes_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX);
}

// Sleeps until a word or the set of words has changed.
void EarlyDeaths::sleep() {
  std::array<FutexWaitv, kMostInOneWait> waits;
  size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    waits[count++] = {__atomic_load_n(&changes_, __ATOMIC_SEQ_CST), reinterpret_cast<uint64_t>(&changes_),
                      kWord32 | kPrivate, 0};
    for (const auto& [token, one] : watched_)
      waits[count++] = {one.alive, reinterpret_cast<uint64_t>(one.word.get()), kWord32, 0};
  }
  const bool waited = ::syscall(kFutexWaitv, waits.data(), count, 0, nullptr, 0) >= 0;
  if (!waited && errno != EAGAIN && errno != EINTR && errno != EFAULT)
    futex(&changes_, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, static_cast<uint32_t>(waits[0].value));
}

// A task's exit code holds a signal number only if the whole process dies of the signal: a thread that ends
// itself puts its code into the other byte (kernel/exit.c).
std::vector<uint64_t> EarlyDeaths::take_killed() {
  std::vector<uint64_t> killed;
  const std::lock_guard lock(mutex_);
  for (auto at = watched_.begin(); at != watched_.end();) {
    if (is_still(at->second.word.get(), at->second.alive)) {
      ++at;
      continue;
    }
    const auto status = unreaped_exit_status(at->second.process.pid, at->second.process.start);
    if (status && status->kind == ExitStatus::Kind::kSignal) killed.push_back(at->first);
    at = watched_.erase(at);
  }
  return killed;
}

void EarlyDeaths::watch() {
  promptness_.enter();
  for (;;) {
    sleep();
    {
      const std::lock_guard lock(mutex_);
      if (over_) return;
    }
    for (const uint64_t token : take_killed()) report_(token);
    promptness_.worked();
  }
}

}  // namespace rankfault
