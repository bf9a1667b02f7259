#include "harness/flight_recorder/pickle.h"

#include "harness/flight_recorder/pickle_machine.h"

namespace rankfault {

namespace {

Result<FrDump> read(ByteSource& source, const FrLimits& limits, const FrSink& sink, bool quick) {
  const Result<PickleScan> scan = scan_pickle(source, limits);
  if (!scan) return scan.error();
  if (scan->fetched.count() > limits.memory / (2 * sizeof(FrValue)))
    return refused("the memo needs too much memory");
  if (const Status start = source.rewind(); !start) return start.error();
  DumpDecoder decoder(limits, FrFormat::kPickle, sink);
  Result<FrDump> dump = PickleMachine(source, limits, scan->fetched, decoder, quick).run();
  if (dump && scan->trailing)
    dump->notes.push_back("bytes behind the end of the pickle, from byte " + std::to_string(scan->end) +
                          ", were left out");
  return dump;
}

}  // namespace

Result<FrDump> read_pickle(ByteSource& source, const FrLimits& limits, const FrSink& sink) {
  return read(source, limits, sink, true);
}
Result<FrDump> read_pickle_slowly(ByteSource& source, const FrLimits& limits, const FrSink& sink) {
  return read(source, limits, sink, false);
}

}  // namespace rankfault
