// json_fuzzer: the json reader of Flight Recorder dumps under libFuzzer.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rankfault::testing::fuzz_json(data, size);
  return 0;
}
