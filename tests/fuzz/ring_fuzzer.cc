// ring_fuzzer: the reader of flight records under libFuzzer.
#include "tests/fuzz/ring_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rankfault::testing::fuzz_ring(data, size);
  return 0;
}
