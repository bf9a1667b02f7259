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

bool read_write_read(const uint8_t* data, size_t size, Reader reader) {
  FrLimits limits;
  limits.memory = size_t{16} << 20;
  limits.text = size_t{1} << 20;
  Result<FrDump> dump = read({reinterpret_cast<const char*>(data), size}, reader, limits);
  if (!dump) {
    RF_ASSERT(!dump.error().message.empty(), "a refusal without a reason");
    return false;
  }
  RF_ASSERT(dump->entries.size() == dump->entry_count, "entries were lost");
  if (dump->version.empty()) return true;
  const std::string written = dump_to_pickle(*dump);
  const Result<FrDump> again = read(written, read_pickle);
  RF_ASSERT(again.ok() && again->entry_count == dump->entry_count, "what was written is not read");
  RF_ASSERT(dump_to_pickle(*again) == written, "what was read is not what was written");
  RF_ASSERT(read(dump_to_json(*dump), read_json_dump).ok(), "what was written as JSON is not read");
  return true;
}

}  // namespace

bool fuzz_pickle(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<FrDump> quick = read(bytes, read_pickle), slow = read(bytes, read_pickle_slowly);
  RF_ASSERT(quick.ok() == slow.ok(), "the short cut takes what the machine does not, or the other way");
  if (quick) RF_ASSERT(dump_to_pickle(*quick) == dump_to_pickle(*slow), "the short cut reads something else");
  return read_write_read(data, size, read_pickle);
}
bool fuzz_json(const uint8_t* data, size_t size) { return read_write_read(data, size, read_json_dump); }

}  // namespace rankfault::testing
