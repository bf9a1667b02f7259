#include "harness/live/promptness.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>

namespace rankfault {
namespace {

constexpr rlim_t kLongestUs =
    100'000;  // a thread of ours that never sleeps: the kernel tells us after so long
// Of the loop. It needs little of a core, but at once: among 32 ranks on each core a thread of their weight
// gets the 5 ms that a look at 64 ranks takes in 150 ms.
constexpr uint64_t kSliceNs = 100'000;
constexpr int kNicer = 10;

std::array<std::atomic<pid_t>, 4> g_raised;  // threads that have real-time priority; 0: a free place
std::atomic<bool> g_misused{false};          // one of them did not sleep: none is raised any more

bool set_policy(pid_t thread, int policy) {
  const sched_param param{policy == SCHED_FIFO ? 1 : 0};
  return ::sched_setscheduler(thread, policy | SCHED_RESET_ON_FORK, &param) == 0;
}

// A right that was taken away meanwhile does not take the mark for forks back.
void make_ordinary(pid_t thread) {
  const sched_param none{0};
  if (::sched_setscheduler(thread, SCHED_OTHER, &none) != 0) set_policy(thread, SCHED_OTHER);
}

void lower(pid_t thread) {
  make_ordinary(thread);
  for (auto& place : g_raised)
    if (place == thread) place = 0;
}

bool raise(pid_t thread) {
  if (g_misused || !set_policy(thread, SCHED_FIFO)) return false;
  for (auto& place : g_raised) {
    pid_t free = 0;
    if (place.compare_exchange_strong(free, thread)) return true;
  }
  make_ordinary(thread);  // nobody could take it away again
  return false;
}

void lower_all(int) {
  g_misused = true;
  for (auto& place : g_raised)
    if (const pid_t thread = place.exchange(0)) make_ordinary(thread);
}

// Of the calling thread; what it starts gets neither. The kernel reads the slice from Linux 6.12 on; 0: as
// everybody's.
bool set_ordinary(int nice, uint64_t slice_ns, bool reset_on_fork = true) {
  struct {
    uint32_t size = 48, policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0, deadline = 0, period = 0;
  } attributes;
  attributes.flags = reset_on_fork ? 1 : 0;  // SCHED_FLAG_RESET_ON_FORK
  attributes.nice = nice;
  attributes.runtime = slice_ns;
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

int own_nice() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }

uint64_t thread_cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

thread_local uint64_t t_charged = 0;  // CPU time of this thread that was charged, or is not to be
thread_local bool t_raised = false;

}  // namespace

bool realtime_wanted() { return std::getenv("RANKFAULT_NO_REALTIME") == nullptr; }

void CpuBudget::grow(TimeNs now) {
  if (now > seen_) credit_ = std::min(kMost, credit_ + static_cast<int64_t>((now - seen_) / 100));
  seen_ = std::max(seen_, now);
  if (credit_ <= 0) exhausted_ = true;
  if (credit_ >= kMost / 10) exhausted_ = false;
}

void CpuBudget::charge(TimeNs now, uint64_t cpu_ns) {
  grow(now);
  credit_ -= static_cast<int64_t>(cpu_ns);
  if (credit_ <= 0) exhausted_ = true;
}

bool CpuBudget::allows(TimeNs now) {
  grow(now);
  return !exhausted_;
}

InheritingMutex::InheritingMutex() {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  ::pthread_mutex_init(&mutex_, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

Promptness::Promptness(bool realtime)
    : budget_(now_ns()),
      ordinary_((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER),
      realtime_(realtime && ordinary_),
      nice_(own_nice()),
      loop_(::gettid()) {
  serve_loop_soon();
  if (!realtime_) return;
  struct sigaction action {};
  action.sa_handler = lower_all;
  ::sigaction(SIGXCPU, &action, nullptr);
  ::getrlimit(RLIMIT_RTTIME, &before_);
  const rlimit limit{std::min(kLongestUs, before_.rlim_cur), before_.rlim_max};
  ::setrlimit(RLIMIT_RTTIME, &limit);
}

Promptness::~Promptness() {
  if (ordinary_ && !set_ordinary(nice_, 0, false))
    set_ordinary(nice_, 0);  // the mark stays without the right
  if (!realtime_) return;
  ::setrlimit(RLIMIT_RTTIME, &before_);
  ::signal(SIGXCPU, SIG_DFL);
}

void Promptness::serve_loop_soon() {
  if (!ordinary_) return;
  if (!realtime_ || !set_ordinary(nice_ - kNicer, kSliceNs)) set_ordinary(nice_, kSliceNs);
}

void Promptness::charge_thread() {
  const uint64_t used = thread_cpu_ns();
  budget_.charge(now_ns(), used - t_charged);
  t_charged = used;
}

void Promptness::adjust(bool& raised) {
  const bool may = realtime_ && budget_.allows(now_ns());
  if (may == raised) return;
  if (raised) lower(::gettid());
  raised = may && raise(::gettid());
}

void Promptness::enter() {
  const std::lock_guard lock(mutex_);
  t_charged = thread_cpu_ns();
  t_raised = false;
  adjust(t_raised);
}

void Promptness::worked() {
  const std::lock_guard lock(mutex_);
  if (t_raised)
    charge_thread();
  else
    t_charged = thread_cpu_ns();
  adjust(t_raised);
}

void Promptness::lend() {
  const std::lock_guard lock(mutex_);
  if (realtime_ && state_ == Loop::kAsleep && budget_.allows(now_ns()) && raise(loop_)) state_ = Loop::kLent;
}

void Promptness::sleeps() {
  const std::lock_guard lock(mutex_);
  state_ = Loop::kAsleep;
}

void Promptness::wakes() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kAsleep) state_ = Loop::kAwake;
  t_charged = thread_cpu_ns();
}

void Promptness::answered() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kLent) {
    charge_thread();
    lower(loop_);
    serve_loop_soon();
  }
  state_ = Loop::kAwake;
}

}  // namespace rankfault
