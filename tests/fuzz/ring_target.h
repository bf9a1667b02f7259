// ring_target: any damage to one flight record, for libFuzzer and for a short seeded run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankfault::testing {

// The bytes are patches of a whole record: a region, a place in it, a length, and what is written there; the
// first byte of 0xff cuts the file off at the place that follows. Everything that can be read of the result
// is read. Says whether it was taken for a record at all.
bool fuzz_ring(const uint8_t* data, size_t size);

}  // namespace rankfault::testing
