// sniff: the type of a file, by its first bytes.
#pragma once

#include "harness/flight_recorder/byte_source.h"

namespace rankfault {

enum class Sniffed { kEmpty, kPickle, kJson, kOther };

// Reads the first bytes of an unpacked source and goes back to its start. An error is a read or unpack error.
Result<Sniffed> sniff(ByteSource& source);

}  // namespace rankfault
