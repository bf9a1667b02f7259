// json_dump: reads a Flight Recorder dump from JSON (dump_fr_trace_json), entry by entry.
//
// As PyTorch writes it, the file has no stacks, unknown times are 0, and `entries` is missing when there are
// none; it may come before pg_config.
#pragma once

#include "harness/flight_recorder/byte_source.h"

namespace rankfault {

// As read_pickle; errors name the byte. The sink may get entries of a file that is found broken later.
Result<FrDump> read_json_dump(ByteSource& source, const FrLimits& limits = {}, const FrSink& sink = {});

}  // namespace rankfault
