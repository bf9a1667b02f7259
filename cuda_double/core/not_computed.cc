#include "cuda_double/core/not_computed.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

#include "cuda_double/core/settings.h"

namespace cuda_double {
namespace {

using Count = std::atomic<std::uint64_t>;
static_assert(Count::is_always_lock_free && sizeof(Count) == sizeof(std::uint64_t));

// Maps "<folder>/not_computed.<pid>", which holds only the count. Null without a folder: then only this
// process knows the count.
Count* in_folder() {
  const std::string& folder = settings().folder;
  if (folder.empty()) return nullptr;
  const std::string name = folder + "/not_computed." + std::to_string(getpid());
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* at = ftruncate(fd, sizeof(Count)) == 0
                 ? mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                 : MAP_FAILED;
  close(fd);
  return at == MAP_FAILED ? nullptr : static_cast<Count*>(at);
}

std::mutex mutex;
pid_t counted_in = 0;  // the process that owns the count: a child of fork begins a new one
Count* count = nullptr;
Count own{0};

}  // namespace

void count_not_computed() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (counted_in != getpid()) {
      counted_in = getpid();
      own = 0;
      count = in_folder();
    }
    if (count) ++*count;
  }
  ++own;
}

std::uint64_t not_computed() { return own; }

}  // namespace cuda_double
