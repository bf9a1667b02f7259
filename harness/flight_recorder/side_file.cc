#include "harness/flight_recorder/side_file.h"

#include "harness/base/json.h"
#include "harness/flight_recorder/text.h"

namespace rankfault {

constexpr int kVersion = 1;

std::string side_to_json(const FrSide& side) {
  std::string host;
  append_clean(side.host, host);
  const Json json = {{"version", kVersion},
                     {"rank", side.rank},
                     {"host", host},
                     {"clock_offset_ns", side.clock_offset_ns},
                     {"clock_error_ns", side.clock_error_ns},
                     {"dropped", side.dropped}};
  return json.dump() + "\n";
}

Result<FrSide> side_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return refused("side file: not a JSON object");
  FrSide side;
  const auto integer = [&](const char* key, int64_t& out) {
    const auto at = json.find(key);
    if (at == json.end()) return true;
    if (!at->is_number_integer()) return false;
    out = at->get<int64_t>();
    return true;
  };
  int64_t version = 0;
  if (!integer("version", version) || version != kVersion)
    return refused("side file: version " + std::to_string(version) + "; this reader knows 1");
  if (!integer("rank", side.rank) || !integer("clock_offset_ns", side.clock_offset_ns) ||
      !integer("clock_error_ns", side.clock_error_ns) || !integer("dropped", side.dropped))
    return refused("side file: another value where an integer is expected");
  if (const auto host = json.find("host"); host != json.end() && host->is_string())
    append_clean(host->get<std::string>(), side.host);
  return side;
}

}  // namespace rankfault
