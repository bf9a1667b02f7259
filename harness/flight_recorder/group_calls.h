// group_calls: the first place at which the members of a group made different calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rankfault {

constexpr uint64_t kMostPlaces = uint64_t{1} << 20;  // of a group in all dumps: a ring holds 2,000 by default

// The signature of a group's call at each place, from the first member that was read, and the first place
// where another member's signature differs.
struct GroupCalls {
  uint64_t base = 0;
  std::vector<uint64_t> words;
  uint64_t differs_at = 0;

  void take(uint64_t seq, uint64_t word) {
    if (words.empty()) base = seq;
    const uint64_t length =
        seq < base ? words.size() + (base - seq) : std::max<uint64_t>(words.size(), seq - base + 1);
    if (length > kMostPlaces) return;  // one ring of calls cannot hold both numbers
    if (seq < base) words.insert(words.begin(), base - seq, 0), base = seq;
    if (seq - base >= words.size()) words.resize(seq - base + 1);
    uint64_t& at = words[seq - base];
    if (at == 0) at = word;
    if (at != word && (differs_at == 0 || seq < differs_at)) differs_at = seq;
  }
};

}  // namespace rankfault
