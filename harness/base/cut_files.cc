// cut_files: see cut_files.h. An unreadable page is replaced by an empty page of our own.
#include "harness/base/cut_files.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <vector>

namespace rankfault {
namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
};

std::atomic<uint64_t> pages{0};
std::array<std::atomic<uintptr_t>, 4096> lost{};  // addresses of pages; 0: free
std::atomic<bool> more_lost{false};
uintptr_t page_mask = 0;
std::vector<Range>* loaded = nullptr;  // programs and libraries; constant once the handler is installed
struct sigaction before {};

int add_loaded(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    loaded->push_back({begin & page_mask, begin + segment.p_memsz});
  }
  return 0;
}

// From here to on_bus_error: only calls that are allowed in a signal handler.
bool is_loaded(uintptr_t page) {
  return std::any_of(loaded->begin(), loaded->end(),
                     [page](const Range& r) { return page >= r.begin && page < r.end; });
}

void note_lost(uintptr_t page) {
  for (auto& entry : lost) {
    uintptr_t free = 0;
    if (entry.compare_exchange_strong(free, page)) return;
  }
  more_lost.store(true);
}

void on_bus_error(int signal, siginfo_t* info, void*) {
  const uintptr_t page = reinterpret_cast<uintptr_t>(info->si_addr) & page_mask;
  void* const at = reinterpret_cast<void*>(page);
  if (info->si_code == BUS_ADRERR && !is_loaded(page) &&
      ::mmap(at, ~page_mask + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          at) {
    note_lost(page);
    pages.fetch_add(1, std::memory_order_release);
    return;
  }
  ::sigaction(signal, &before, nullptr);  // the access is repeated and reaches the previous handler
}

template <typename Act>
void for_each_lost(const void* mapping, size_t bytes, Act act) {
  const auto begin = reinterpret_cast<uintptr_t>(mapping);
  for (auto& entry : lost)
    if (const uintptr_t page = entry.load(); page != 0 && page >= (begin & page_mask) && page < begin + bytes)
      act(entry);
}

}  // namespace

void survive_cut_files() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_mask = ~(static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1);
    loaded = new std::vector<Range>;  // never freed: the handler reads it until the end
    ::dl_iterate_phdr(add_loaded, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &before);
  });
}

uint64_t pages_of_cut_files() { return pages.load(std::memory_order_acquire); }

bool lost_page_in(const void* mapping, size_t bytes) {
  if (pages_of_cut_files() == 0) return false;
  bool found = more_lost.load();
  for_each_lost(mapping, bytes, [&](const std::atomic<uintptr_t>&) { found = true; });
  return found;
}

void forget_lost_pages(const void* mapping, size_t bytes) {
  if (pages_of_cut_files() == 0) return;
  for_each_lost(mapping, bytes, [](std::atomic<uintptr_t>& entry) { entry.store(0); });
}

}  // namespace rankfault
