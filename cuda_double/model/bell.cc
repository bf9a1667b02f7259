#include "cuda_double/model/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <mutex>
#include <thread>

#include "cuda_double/core/streams.h"
#include "cuda_double/model/page.h"

namespace cuda_double {
namespace {

std::atomic<std::atomic<std::uint32_t>*> bell{nullptr};

long futex(std::atomic<std::uint32_t>* word, int what, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), what, value, nullptr, nullptr, 0);
}

void listen(std::atomic<std::uint32_t>* word) {
  for (;;) {
    std::uint32_t seen = word->load();
    Streams::all().announce();  // after the load: a later ring ends the wait below
    futex(word, FUTEX_WAIT, seen);
  }
}

}  // namespace

void open_bell(const std::string& folder) {
  static std::once_flag once;
  std::call_once(once, [&] {
    auto* word = static_cast<std::atomic<std::uint32_t>*>(map_file(folder + "/bell", sizeof(std::uint32_t)));
    bell = word;
    std::thread([word] {
      pthread_setname_np(pthread_self(), "cuda double");
      listen(word);
    }).detach();
  });
}

void ring_bell() {
  if (auto* word = bell.load()) {
    word->fetch_add(1);
    futex(word, FUTEX_WAKE, INT_MAX);
  }
}

}  // namespace cuda_double
