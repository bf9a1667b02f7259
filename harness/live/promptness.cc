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
#include "harness/base/log.h"

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

clockid_t clock_of_this_thread() {
  clockid_t clock{};
  ::pthread_getcpuclockid(::pthread_self(), &clock);
  return clock;
}

// Of small threads.
thread_local Duration t_charged{};  // CPU time of this thread that is already charged, or need not be
thread_local bool t_raised = false;

Duration cpu_time_of(clockid_t thread) {
  timespec time{};
  ::clock_gettime(thread, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

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

Promptness::Promptness(bool realtime, Instant (*now)())
    : now_(now),
      budget_(now(), kMost),
      death_budget_(now(), kMostForDeaths),
      ordinary_((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER),
      realtime_(realtime && ordinary_),
      loop_(::gettid()),
      loop_clock_(clock_of_this_thread()) {
  if (ordinary_) set_slice(kSliceNs, true);
  if (!realtime_) return;
  struct sigaction action {};
  action.sa_handler = lower_all;
  ::sigaction(SIGXCPU, &action, nullptr);
  ::getrlimit(RLIMIT_RTTIME, &before_);
  const rlimit limit{std::min(kLongestUs, before_.rlim_cur), before_.rlim_max};
  ::setrlimit(RLIMIT_RTTIME, &limit);
}

// The small threads have ended.
Promptness::~Promptness() {
  rests();
  for (auto& place : g_raised) place = 0;
  if (ordinary_ && !set_slice(0, false)) set_slice(0, true);  // the flag stays without the right
  if (!realtime_) return;
  if (g_misused)
    tool_log(LogLevel::kWarn, "a thread with real-time priority did not sleep: no thread has it any more");
  ::setrlimit(RLIMIT_RTTIME, &before_);
  ::signal(SIGXCPU, SIG_DFL);
}

void Promptness::adjust(bool& raised) {
  const bool may = realtime_ && budget_.allows(now_());
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
  const Duration used = thread_cpu_time();
  if (t_raised) budget_.charge(now_(), used - t_charged);
  t_charged = used;
  adjust(t_raised);
}

void Promptness::lend() {
  const std::lock_guard lock(mutex_);
  if (realtime_ && state_ == Loop::kAsleep && budget_.allows(now_()) && raise_loop()) state_ = Loop::kLent;
}

void Promptness::hurry() {
  const std::lock_guard lock(mutex_);
  const Instant now = now_();
  hurries_until_ = now + kLongestHurry;
  if (state_ == Loop::kRests || state_ == Loop::kHurries || !hurries_at(now)) return;
  if (state_ == Loop::kLent || raise_loop()) state_ = Loop::kHurries;
}

bool Promptness::hurries_at(Instant now) {
  return realtime_ && now < hurries_until_ && death_budget_.allows(now);
}

bool Promptness::raise_loop() {
  charged_ = cpu_time_of(loop_clock_);
  return raise(loop_);
}

void Promptness::take_back() {
  CpuBudget& budget = state_ == Loop::kLent ? budget_ : death_budget_;
  budget.charge(now_(), cpu_time_of(loop_clock_) - charged_);
  lower(loop_);
  set_slice(kSliceNs, true);
  state_ = Loop::kAwake;
}

// In a hurry the loop raises itself before it sleeps, because an ordinary thread may wake up late.
void Promptness::sleeps() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kHurries) take_back();
  state_ = hurries_at(now_()) && raise_loop() ? Loop::kHurries : Loop::kAsleep;
}

void Promptness::wakes() {
  const std::lock_guard lock(mutex_);
  known_until_ = hurries_until_;
  if (state_ == Loop::kAsleep) state_ = Loop::kAwake;
  if (state_ == Loop::kHurries && now_() >= hurries_until_) take_back();
}

void Promptness::answered() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kLent) take_back();
}

bool Promptness::hurries() {
  const std::lock_guard lock(mutex_);
  return hurries_at(now_());
}

void Promptness::rests() {
  const std::lock_guard lock(mutex_);
  if (state_ == Loop::kHurries) take_back();
  state_ = Loop::kRests;
}

void Promptness::calm() {
  rests();
  const std::lock_guard lock(mutex_);
  if (hurries_until_ == known_until_) hurries_until_ = Instant{};
}

}  // namespace rankfault
