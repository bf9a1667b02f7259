/* sys.h: system calls without libc: they set no errno, are no cancellation points, and use no interposed
 * name. Each returns the kernel's value: a negative errno on failure. C11 and C++20 both include it. */
#ifndef RANKFAULT_AGENT_SYS_H
#define RANKFAULT_AGENT_SYS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

static inline long rf_sys6(long n, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long r;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(r)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return r;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "rankfault's agent knows x86-64 and aarch64"
#endif
}

static inline int rf_sys_open(const char* path, int flags, int mode) {
  return (int)rf_sys6(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode, 0, 0);
}
static inline void rf_sys_close(int fd) { rf_sys6(SYS_close, fd, 0, 0, 0, 0, 0); }
static inline long rf_sys_read(int fd, void* to, uint64_t bytes) {
  return rf_sys6(SYS_read, fd, (long)to, (long)bytes, 0, 0, 0);
}
static inline void* rf_sys_map(uint64_t bytes, int flags, int fd, uint64_t offset) {
  long at = rf_sys6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, flags, fd, (long)offset);
  if (at < 0 && at > -4096) at = 0;
  return (void*)at; /* NOLINT: the kernel says addresses as numbers */
}
static inline void rf_sys_unmap(void* at, uint64_t bytes) {
  rf_sys6(SYS_munmap, (long)at, (long)bytes, 0, 0, 0, 0);
}
static inline int rf_sys_advise(void* at, uint64_t bytes, int advice) {
  return (int)rf_sys6(SYS_madvise, (long)at, (long)bytes, advice, 0, 0, 0);
}
static inline int rf_sys_pid(void) { return (int)rf_sys6(SYS_getpid, 0, 0, 0, 0, 0, 0); }
static inline int rf_sys_tid(void) { return (int)rf_sys6(SYS_gettid, 0, 0, 0, 0, 0, 0); }
static inline void rf_sys_kill(int pid, int signal) { rf_sys6(SYS_kill, pid, signal, 0, 0, 0, 0); }
static inline void rf_sys_write(int fd, const char* text, uint64_t bytes) {
  rf_sys6(SYS_write, fd, (long)text, (long)bytes, 0, 0, 0);
}
__attribute__((noreturn)) static inline void rf_sys_exit(int status) {
  for (;;) rf_sys6(SYS_exit_group, status, 0, 0, 0, 0, 0);
}
static inline void rf_sys_wake(uint32_t* word) {
  rf_sys6(SYS_futex, (long)word, FUTEX_WAKE, 0x7fffffff, 0, 0, 0);
}
/* Waits while *word == value, at most `ns` nanoseconds. The futex is shared between processes. */
static inline void rf_sys_wait(uint32_t* word, uint32_t value, uint64_t ns) {
  struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  rf_sys6(SYS_futex, (long)word, FUTEX_WAIT, value, (long)&ts, 0, 0);
}
static inline void rf_sys_sleep_until(uint64_t deadline_ns) {
  struct timespec ts = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
  rf_sys6(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&ts, 0, 0, 0);
}

#endif /* RANKFAULT_AGENT_SYS_H */
