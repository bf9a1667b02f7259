// targets: see targets.h.
#include "tests/fuzz/targets.h"

#include <string>
#include <string_view>

#include "harness/base/assert.h"
#include "harness/flight_recorder/json_dump.h"
#include "harness/flight_recorder/pickle.h"
#include "harness/flight_recorder/write_dump.h"

namespace rankfault::testing {
namespace {

using Reader = Result<FrDump> (*)(ByteSource&, const FrLimits&, const FrSink&);

Result<FrDump> read(std::string_view bytes, Reader reader, const FrLimits& limits = {}) {
  const auto source = memory_source(bytes);
  return reader(*source, limits, {});
}

void read_write_read(const uint8_t* data, size_t size, Reader reader) {
  FrLimits limits;
  limits.memory = size_t{16} << 20;
  limits.text = size_t{1} << 20;
  Result<FrDump> dump = read({reinterpret_cast<const char*>(data), size}, reader, limits);
  if (!dump) {
    RF_ASSERT(!dump.error().message.empty(), "a refusal without a reason");
    return;
  }
  RF_ASSERT(dump->entries.size() == dump->entry_count, "entries were lost");
  if (dump->version.empty()) return;
  const std::string written = dump_to_pickle(*dump);
  const Result<FrDump> again = read(written, read_pickle);
  RF_ASSERT(again.ok() && again->entry_count == dump->entry_count, "what was written is not read");
  RF_ASSERT(dump_to_pickle(*again) == written, "what was read is not what was written");
  RF_ASSERT(read(dump_to_json(*dump), read_json_dump).ok(), "what was written as JSON is not read");
}

}  // namespace

void fuzz_pickle(const uint8_t* data, size_t size) { read_write_read(data, size, read_pickle); }
void fuzz_json(const uint8_t* data, size_t size) { read_write_read(data, size, read_json_dump); }

}  // namespace rankfault::testing
