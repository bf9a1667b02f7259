// pickle: reads a Flight Recorder dump from a pickle, protocols 0 to 5, and runs nothing while it does.
//
// Python's own reader imports and calls what a file names. This one knows the opcodes of plain data;
// any other is an error with its name, byte and reason, before the first value is made. Two passes:
// scan_pickle, then a stack machine that hands each entry over as soon as it is whole. Values of an entry
// are forgotten then, unless a later one refers to them.
#pragma once

#include "harness/flight_recorder/byte_source.h"

namespace rankfault {

class DumpDecoder;

// Reads the source from its start. With a sink, entries go there; else they are in the dump.
// Errors: "byte 17: GLOBAL (0x63) is refused: ...", "ends at byte 40", "entry 3 (byte 900): ...".
// The sink gets nothing of a pickle that is cut short or refused by the scan.
Result<FrDump> read_pickle(ByteSource& source, const FrLimits& limits = {}, const FrSink& sink = {});
// The same without the short cut for entries that look as usual: what the short cut is tested against.
Result<FrDump> read_pickle_slowly(ByteSource& source, const FrLimits& limits = {}, const FrSink& sink = {});

}  // namespace rankfault
