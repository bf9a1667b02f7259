// targets: what a fuzzer calls with any bytes. Each returns, and what a reader takes must survive being
// written and read again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankfault::testing {

void fuzz_pickle(const uint8_t* data, size_t size);
void fuzz_json(const uint8_t* data, size_t size);

}  // namespace rankfault::testing
