// ring_target: arbitrary damage to one flight record, for libFuzzer and for a short seeded run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankfault::testing {

// The bytes are patches of a whole record: a region, a place in it, a length, and the bytes to write. A first
// byte of 0xff cuts the file off at the place that follows. The target reads everything that can be read of
// the result. Returns whether the reader took the file for a record.
bool fuzz_ring(const uint8_t* data, size_t size);

}  // namespace rankfault::testing
