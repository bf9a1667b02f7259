// control_page: creates, maps and unmaps the control page.
#include "harness/inject/control_page.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <utility>

#include "harness/base/unique_fd.h"

namespace rankfault {

void futex_wake(uint32_t* word) { ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

Result<ControlPage> ControlPage::create(const std::string& path, int world_size, Duration park_limit) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return errno_error("create " + path);
  if (const int refused_with = ::posix_fallocate(fd.get(), 0, sizeof(rf_control)))
    return errno_error("allocate the control page " + path, refused_with);
  void* map = ::mmap(nullptr, sizeof(rf_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return errno_error("map " + path);
  auto* page = static_cast<rf_control*>(map);
  page->abi_version = RF_ABI_VERSION;
  page->control_bytes = sizeof(rf_control);
  page->park_limit_ns = ns_of(park_limit);
  page->run_started_ns = ns_of(HostClock::now());
  page->world_size = world_size;
  RF_STORE(&page->magic, RF_CONTROL_MAGIC);
  return ControlPage(page);
}

ControlPage::ControlPage(ControlPage&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

ControlPage::~ControlPage() {
  if (page_) ::munmap(page_, sizeof(rf_control));
}

void ControlPage::harness_gone() {
  RF_STORE(&page_->harness_gone, 1u);
  for (rf_gate_slot& slot : page_->slots)
    if (RF_LOAD(&slot.state) != RF_GATE_FREE) futex_wake(&slot.state);
}

}  // namespace rankfault
