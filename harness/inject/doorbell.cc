#include "harness/inject/doorbell.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/base/assert.h"
#include "harness/inject/control_page.h"

namespace rankfault {

Doorbell::Doorbell(rf_control* page, DoorbellHelp help)
    : page_(page), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), help_(std::move(help)) {
  RF_ASSERT(event_.valid(), "no eventfd");
  thread_ = std::thread([this] { listen(); });
}

Doorbell::~Doorbell() {
  stop_ = true;
  __atomic_fetch_add(&page_->doorbell, 1u, __ATOMIC_RELEASE);
  futex_wake(&page_->doorbell);
  thread_.join();
}

void Doorbell::clear() {
  uint64_t rings = 0;
  [[maybe_unused]] const ssize_t n = ::read(event_.get(), &rings, sizeof rings);
}

void Doorbell::listen() {
  uint32_t seen = 0;
  if (help_.begins) help_.begins();
  while (!stop_) {
    const uint32_t now = RF_LOAD(&page_->doorbell);
    if (now == seen) {
      ::syscall(SYS_futex, &page_->doorbell, FUTEX_WAIT, seen, nullptr, nullptr, 0);
      continue;
    }
    seen = now;
    if (help_.rings) help_.rings();
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(event_.get(), &one, sizeof one);
    if (help_.sleeps) help_.sleeps();
  }
}

}  // namespace rankfault
