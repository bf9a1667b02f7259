// limits: the bounds on memory and work for reading a dump. A dump is foreign data: each bound is checked
// before memory is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "harness/base/result.h"
#include "harness/flight_recorder/dump.h"

namespace rankfault {

struct FrLimits {
  uint64_t bytes = uint64_t{4} << 30;  // of a dump, unpacked
  size_t memory = size_t{512} << 20;   // for values and memo while one dump is read
  size_t text = size_t{16} << 20;      // one string
  size_t nesting = 64;                 // open containers
  uint64_t unpack_ratio = 300;         // gzip: unpacked to packed, beyond the first 64 MiB
};

// Takes the entries in file order while the dump is read. It may move from the entry; the rest is reused for
// the next one. An error ends the reading, and the reader returns it.
using FrSink = std::function<Status(FrEntry&)>;

}  // namespace rankfault
