// topology_gather.cc: lets the ranks of one node exchange their topologies without the unused rest of the
// buffers.
//
// Each rank has room for 256 nodes of a topology, 3.6 MB, and uses about six. NCCL sends all of it around a
// ring of sockets, which is 3.6 GB for 32 ranks. The linker (--wrap) gives this function NCCL's own gather.
// It asks the same gather first for the bytes that each rank uses and then for these. The rest of each part
// is zeros, as before.
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

// Weak: an NCCL without this function does not call it either.
#define GATHER "Z27bootstrapIntraNodeAllGatherPvPiiiS_i"
ncclResult_t own_gather(void* state, int* ranks, int rank, int count, void* all,
                        int bytes) __asm__("__real__" GATHER) __attribute__((weak));
ncclResult_t gather(void* state, int* ranks, int rank, int count, void* all,
                    int bytes) __asm__("__wrap__" GATHER);

namespace {

constexpr int kSmall = 1 << 16;  // below that, one exchange costs less than two

// The bytes of a part without the blocks of zeros at its end.
int used_bytes(const char* part, int bytes) {
  constexpr int kBlock = 4096;
  static const char zeros[kBlock] = {};
  while (bytes >= kBlock && std::memcmp(part + bytes - kBlock, zeros, kBlock) == 0) bytes -= kBlock;
  return bytes;
}

// Makes memory zero without touching pages that nothing has written to: these are zero, and most of them are.
void make_zero(char* begin, char* end) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto up = [&](char* p) { return p + (page - reinterpret_cast<std::uintptr_t>(p) % page) % page; };
  char* const first = std::min(up(begin), end);
  std::memset(begin, 0, static_cast<std::size_t>(first - begin));
  std::vector<unsigned char> present((static_cast<std::size_t>(end - first) + page - 1) / page, 1);
  if (!present.empty()) mincore(first, static_cast<std::size_t>(end - first), present.data());
  char* at = first;
  for (std::size_t i = 0; i < present.size(); ++i, at += page)
    if (present[i] & 1) std::memset(at, 0, std::min(page, static_cast<std::uintptr_t>(end - at)));
}

}  // namespace

ncclResult_t gather(void* state, int* ranks, int rank, int count, void* all, int bytes) {
  if (bytes <= kSmall || count < 2) return own_gather(state, ranks, rank, count, all, bytes);
  const auto part = [&](int i) {
    return static_cast<char*>(all) + static_cast<std::size_t>(i) * static_cast<std::size_t>(bytes);
  };
  std::vector<int> used(static_cast<std::size_t>(count));
  used[static_cast<std::size_t>(rank)] = used_bytes(part(rank), bytes);
  ncclResult_t result = own_gather(state, ranks, rank, count, used.data(), sizeof(int));
  if (result != ncclSuccess) return result;
  const int most = *std::max_element(used.begin(), used.end());
  const auto stride = static_cast<std::size_t>(most);
  std::vector<char> packed(static_cast<std::size_t>(count) * stride);
  if (most > 0) {
    std::memcpy(packed.data() + static_cast<std::size_t>(rank) * stride, part(rank), stride);
    result = own_gather(state, ranks, rank, count, packed.data(), most);
    if (result != ncclSuccess) return result;
  }
  for (int i = 0; i < count; ++i) {
    if (i == rank) continue;
    std::copy_n(packed.data() + static_cast<std::size_t>(i) * stride, stride, part(i));
    make_zero(part(i) + most, part(i + 1));
  }
  return ncclSuccess;
}
