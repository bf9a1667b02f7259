// targets: functions that a fuzzer calls with arbitrary bytes. Each returns whether the reader accepted the
// bytes. Accepted data must stay the same when it is written and read again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankfault::testing {

bool fuzz_pickle(const uint8_t* data, size_t size);
bool fuzz_json(const uint8_t* data, size_t size);

}  // namespace rankfault::testing
