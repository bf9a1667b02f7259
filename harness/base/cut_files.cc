// cut_files: see cut_files.h. A page behind the end of its file is replaced by an empty one of our own.
#include "harness/base/cut_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>

namespace rankfault {
namespace {

std::atomic<uint64_t> pages{0};
uintptr_t page_mask = 0;

// Only calls that a signal handler may make.
void on_bus_error(int signal, siginfo_t* info, void*) {
  if (info->si_code == BUS_ADRERR) {
    auto* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(info->si_addr) & page_mask);
    if (::mmap(page, ~page_mask + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == page) {
      pages.fetch_add(1, std::memory_order_release);
      return;
    }
  }
  ::signal(signal, SIG_DFL);  // the access is made again, and ends us
}

}  // namespace

void survive_cut_files() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_mask = ~(static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1);
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

uint64_t pages_of_cut_files() { return pages.load(std::memory_order_acquire); }

}  // namespace rankfault
