// targets: what a fuzzer calls with any bytes. Each returns, says whether the reader took them, and what it
// took must survive being written and read again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankfault::testing {

bool fuzz_pickle(const uint8_t* data, size_t size);
bool fuzz_json(const uint8_t* data, size_t size);

}  // namespace rankfault::testing
