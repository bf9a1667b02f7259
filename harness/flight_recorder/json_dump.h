// json_dump: reads a Flight Recorder dump from JSON (dump_fr_trace_json), entry by entry.
//
// As in PyTorch the file has no stacks, times that are not known are 0, and `entries` is missing when
// there are none; it may stand before pg_config.
#pragma once

#include "harness/flight_recorder/byte_source.h"

namespace rankfault {

// As read_pickle; errors name the byte. The sink may get entries of a file that turns out to be broken.
Result<FrDump> read_json_dump(ByteSource& source, const FrLimits& limits = {}, const FrSink& sink = {});

}  // namespace rankfault
