#include "harness/live/promptness.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "harness/base/cpu_time.h"

namespace rankfault {
namespace {

constexpr rlim_t kLongestUs =
    100'000;  // for a thread of ours that never sleeps: the kernel sends a signal after this time
constexpr uint64_t kSliceNs = 100'000;  // of the loop: an ordinary thread with a short slice gets the CPU
                                        // sooner

constexpr Duration kMost = 10ms, kMostForDeaths = 30ms;  // one second and three seconds of 1 %
constexpr Duration kLongestHurry = 100ms;

std::array<std::atomic<pid_t>, 4> g_raised;  // threads that have real-time priority; 0: a free slot
std::atomic<bool> g_misused{false};          // one of them did not sleep: no thread is raised any more

bool set_policy(pid_t thread, int policy) {
  const sched_param param{policy == SCHED_FIFO ? 1 : 0};
  return ::sched_setscheduler(thread, policy | SCHED_RESET_ON_FORK, &param) == 0;
}

// If the right was taken away meanwhile, the reset-on-fork flag stays set.
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
  make_ordinary(thread);  // no code could lower it later
  return false;
}

void lower_all(int) {
  g_misused = true;
  for (auto& place : g_raised)
    if (const pid_t thread = place.exchange(0)) make_ordinary(thread);
}

// Linux 6.12 and later; no effect on older kernels. 0: the default slice. Threads and processes that this
// thread starts do not inherit it.
bool set_slice(uint64_t ns, bool reset_on_fork) {
  struct {
    uint32_t size = 48, policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0, deadline = 0, period = 0;
  } attributes;
  attributes.flags = reset_on_fork ? 1 : 0;  // SCHED_FLAG_RESET_ON_FORK
  attributes.nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
  attributes.runtime = ns;
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

thread_local Duration t_charged{};  // CPU time of this thread that is already charged, or need not be
thread_local bool t_raised = false;

}  // namespace

bool realtime_wanted() { return std::getenv("RANKFAULT_NO_REALTIME") == nullptr; }

void CpuBudget::grow(Instant now) {
  if (now > seen_) credit_ = std::min(most_, credit_ + (now - seen_) / 100);
  seen_ = std::max(seen_, now);
  if (credit_ <= Duration::zero()) exhausted_ = true;
  if (credit_ >= most_ / 10) exhausted_ = false;
}

void CpuBudget::charge(Instant now, Duration used) {
  grow(now);
  credit_ -= used;
  if (credit_ <= Duration::zero()) exhausted_ = true;
}

bool CpuBudget::allows(Instant now) {
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
    : budget_(HostClock::now(), kMost),
      death_budget_(HostClock::now(), kMostForDeaths),
      ordinary_((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER),
      realtime_(realtime && ordinary_),
      loop_(::gettid()) {
  if (ordinary_) set_slice(kSliceNs, true);
  if (!realtime_) return;
  struct sigaction action {};
  action.sa_handler = lower_all;
  ::sigaction(SIGXCPU, &action, nullptr);
  ::getrlimit(RLIMIT_RTTIME, &before_);
  const rlimit limit{std::min(kLongestUs, before_.rlim_cur), before_.rlim_max};
  ::setrlimit(RLIMIT_RTTIME, &limit);
}

Promptness::~Promptness() {
  calm();
  if (ordinary_ && !set_slice(0, false)) set_slice(0, true);  // the flag stays without the right
  if (!realtime_) return;
  ::setrlimit(RLIMIT_RTTIME, &before_);
  ::signal(SIGXCPU, SIG_DFL);
}

void Promptness::charge_thread(CpuBudget& budget) {
  const Duration used = thread_cpu_time();
  budget.charge(HostClock::now(), used - t_charged);
  t_charged = used;
}

void Promptness::adjust(bool& raised) {
  const bool may = realtime_ && budget_.allows(HostClock::now());
  if (may == raised) return;
  if (raised) lower(::gettid());
  raised = may && raise(::gettid());
}

void Promptness::enter() {
  const std::lock_guard lock(mutex_);
  t_charged = thread_cpu_time();
  t_raised = false;
  adjust(t_raised);
}

void Promptness::worked() {
  const std::lock_guard lock(mutex_);
  if (t_raised)
    charge_thread(budget_);
  else
    t_charged = thread_cpu_time();
  adjust(t_raised);
}

void Promptness::lend() {
  const std::lock_guard lock(mutex_);
  if (realtime_ && state_ == Loop::kAsleep && budget_.allows(HostClock::now()) && raise(loop_))
    state_ = Loop::kLent;
}

// The loop may be at work, or wait for a CPU, when the process dies.
void Promptness::hurry() {
  const std::lock_guard lock(mutex_);
  hurries_until_ = HostClock::now() + kLongestHurry;
  raise_for_death();
}

void Promptness::raise_for_death() {
  const Instant now = HostClock::now();
  if (state_ == Loop::kHurries || now >= hurries_until_ || !realtime_ || !death_budget_.allows(now)) return;
  if (state_ == Loop::kLent || raise(loop_)) state_ = Loop::kHurries;
}

void Promptness::take_back() {
  charge_thread(state_ == Loop::kLent ? budget_ : death_budget_);
  lower(loop_);
  set_slice(kSliceNs, true);
  state_ = Loop::kAwake;
}

// The loop raises itself before a sleep, because an ordinary thread may wake up late.
void Promptness::sleeps() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kHurries) take_back();
  state_ = Loop::kAsleep;
  raise_for_death();
}

void Promptness::wakes() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kAsleep) state_ = Loop::kAwake;
  t_charged = thread_cpu_time();
}

void Promptness::answered() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kLent) take_back();
}

bool Promptness::hurries() {
  const std::lock_guard lock(mutex_);
  return state_ == Loop::kHurries;
}

void Promptness::rests() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kHurries) take_back();
}

void Promptness::calm() {
  const std::lock_guard lock(mutex_);
  hurries_until_ = Instant{};
  if (state_ == Loop::kHurries) take_back();
}

}  // namespace rankfault
