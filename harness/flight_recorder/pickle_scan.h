// pickle_scan: the first of two passes over a pickle. It checks that every opcode is one of plain data, that
// every length is in its bounds and that the pickle ends, and finds the memo slots that are ever fetched.
//
// Python's pickler puts every string and container into the memo; few are fetched. With this set, the second
// pass drops an entry after handing it over, and needs no more memory for a million entries than for one.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "harness/flight_recorder/byte_source.h"

namespace rankfault {

// A set of memo ids, dense in its members: the n-th id of the set has index n.
class MemoUse {
 public:
  bool insert(uint64_t id, size_t limit_bytes);  // false when the set would grow beyond the limit
  void finish();                                 // after the last insert, before index() and count()
  bool contains(uint64_t id) const {
    return id / 64 < bits_.size() && (bits_[id / 64] >> (id % 64) & 1) != 0;
  }
  static constexpr size_t kNone = ~size_t{0};
  // The index of an id in the set; kNone when it is not in it.
  size_t index(uint64_t id) const {
    if (id < low_.size()) return low_[id] - size_t{1};
    if (!contains(id)) return kNone;
    const uint64_t below = bits_[id / 64] & ((uint64_t{1} << (id % 64)) - 1);
    return before_[id / 64] + static_cast<size_t>(__builtin_popcountll(below));
  }
  size_t count() const { return count_; }

 private:
  static constexpr size_t kLow = 4096;  // the ids of field names and call sites, which are most of the
                                        // fetched ones
  std::vector<uint32_t> low_;           // index + 1; 0: not in the set
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> before_;
  size_t count_ = 0;
};

struct PickleScan {
  MemoUse fetched;
  uint64_t end = 0;       // offset after STOP
  bool trailing = false;  // bytes follow it
};

// Errors name the byte: "byte 17: GLOBAL (0x63) is refused: ...".
Result<PickleScan> scan_pickle(ByteSource& source, const FrLimits& limits);

// Both passes read arguments in the same way.
inline uint64_t little_endian(const char* at, size_t bytes) {
  uint64_t value = 0;
  if (bytes == 4 || bytes == 8) {  // with a constant length this is one load
    std::memcpy(&value, at, bytes == 4 ? 4 : 8);
    if constexpr (std::endian::native == std::endian::little) return value;
    value = 0;
  }
  for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}
// The length of the line that starts here, without its end; -1 when no line ends within `most` bytes.
int64_t line_length(ByteWindow& window, size_t most);
constexpr size_t kNumberLine = 1000;  // longest INT, LONG, FLOAT, GET, PUT

}  // namespace rankfault
