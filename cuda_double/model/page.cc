#include "cuda_double/model/page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cuda_double {
namespace {

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "CUDA double: %s: %s\n", what.c_str(), std::strerror(errno));
  std::abort();
}

int open_file(const std::string& path) {
  int fd = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) give_up(path);
  return fd;
}

std::string name_of(const std::string& folder, std::uint64_t key) {
  char text[24];
  std::snprintf(text, sizeof text, "/%016llx", static_cast<unsigned long long>(key));
  return folder + text;
}

}  // namespace

void* map_file(const std::string& path, std::size_t bytes) {
  int fd = open_file(path);
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) give_up(path);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) give_up(path);
  close(fd);
  return memory;
}

Page::Page(const std::string& folder, std::uint64_t key, int ranks)
    : name_(name_of(folder, key)), ranks_(ranks) {
  auto n = static_cast<std::size_t>(ranks);
  bytes_ = n * sizeof(Rank) + 3 * n * n * sizeof(std::atomic<std::uint64_t>);
  memory_ = map_file(name_ + ".page", bytes_);
  files_ = std::make_unique<std::atomic<int>[]>((2 + n) * n + n);
}

Page::~Page() {
  auto n = static_cast<std::size_t>(ranks_);
  for (std::size_t i = 0; i < (2 + n) * n + n; ++i) {
    if (int fd = files_[i]) close(fd);
  }
  munmap(memory_, bytes_);
}

void Page::arrive(int rank, std::uint64_t k, const Signature& signature) {
  rank_at(rank).last[k & 1] = signature;
  rank_at(rank).arrived.store(k + 1, std::memory_order_release);
}

bool Page::arrived(int rank, std::uint64_t k) const {
  return rank_at(rank).arrived.load(std::memory_order_acquire) > k;
}

bool Page::agrees(int rank, std::uint64_t k, const Signature& signature) const {
  const Rank& other = rank_at(rank);
  return other.arrived.load(std::memory_order_acquire) != k + 1 || other.last[k & 1] == signature;
}

std::atomic<std::uint64_t>& Page::pair(int which, int from, int to) {
  auto* pairs = reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<Rank*>(memory_) + ranks_);
  return pairs[(which * ranks_ + from) * ranks_ + to];
}

int Page::file(int index) {
  std::atomic<int>& known = files_[static_cast<std::size_t>(index)];
  if (int fd = known) return fd;
  int fd = open_file(name_ + "." + std::to_string(index)), none = 0;
  if (known.compare_exchange_strong(none, fd)) return fd;
  close(fd);
  return none;
}

void write_whole(int fd, const void* from, std::size_t bytes, std::size_t at) {
  for (std::size_t done = 0; done < bytes;) {
    ssize_t n =
        pwrite(fd, static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(at + done));
    if (n <= 0 && errno != EINTR) give_up("write the data of a rank");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

void read_whole(int fd, void* into, std::size_t bytes, std::size_t at) {
  for (std::size_t done = 0; done < bytes;) {
    ssize_t n = pread(fd, static_cast<char*>(into) + done, bytes - done, static_cast<off_t>(at + done));
    if (n == 0) errno = ENODATA;
    if (n <= 0 && errno != EINTR) give_up("read the data of a rank");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

}  // namespace cuda_double
