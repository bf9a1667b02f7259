// pickle: reads a Flight Recorder dump from a pickle, protocols 0 to 5, without running anything.
//
// Python's own reader imports and calls what a file names. This reader knows the opcodes of plain data. Any
// other opcode is an error with its name, byte and reason, before the first value is made. There are two
// passes: scan_pickle, then a stack machine that hands over each entry as soon as it is whole. The values of
// an entry are then dropped, unless a later one refers to them.
#pragma once

#include "harness/flight_recorder/byte_source.h"

namespace rankfault {

class DumpDecoder;

// Reads the source from its start. With a sink, entries go there; else they are in the dump. Errors: "byte
// 17: GLOBAL (0x63) is refused: ...", "ends at byte 40", "entry 3 (byte 900): ...". The sink gets nothing of
// a pickle that is cut short or that the scan refuses.
Result<FrDump> read_pickle(ByteSource& source, const FrLimits& limits = {}, const FrSink& sink = {});
// The same without the short cut for entries in the usual form: the tests compare the short cut with it.
Result<FrDump> read_pickle_slowly(ByteSource& source, const FrLimits& limits = {}, const FrSink& sink = {});

}  // namespace rankfault
