// Params: typed reading of the parameters that a catalogue entry (fault kind, oracle) defines for itself.
//
// An entry declares its parameters once, as ParamSpecs. The same declaration checks a scenario, writes the
// JSON schema and the reference page, and refuses unknown keys with a suggestion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace rankfault {

enum class ParamType {
  kBool,
  kInt,
  kNumber,
  kText,
  kDuration,
  kTextList,
  kIntList,
  kRankSet,
  kMap,
  kSignal,
  kAny
};

struct ParamSpec {
  const char* name;
  ParamType type;
  bool required;
  const char* doc;                     // one sentence
  std::vector<std::string> choices{};  // kText, kTextList: allowed words; empty: any
};

// Checks `params` (a map) against `specs`: every unknown or missing key, wrong type and bad choice. Keys that
// other code reads (`also_known`) are used only for suggestions.
std::vector<Error> all_mistakes(const Value& params, const std::vector<ParamSpec>& specs,
                                const std::string& owner, const std::vector<std::string>& also_known = {});
// The same with the first mistake only.
Status check_params(const Value& params, const std::vector<ParamSpec>& specs, const std::string& owner);

// Reads one parameter that check_params has accepted; the default when absent.
bool read_bool(const Value& params, const char* name, bool otherwise);
int64_t read_int(const Value& params, const char* name, int64_t otherwise);
double read_number(const Value& params, const char* name, double otherwise);
std::string read_text(const Value& params, const char* name, const std::string& otherwise = "");
std::vector<std::string> read_texts(const Value& params, const char* name);
std::optional<Duration> read_duration(const Value& params, const char* name);
Result<RankSet> read_rank_set(const Value&);  // "all", [0, 3], "8-15", 3, "others" ...
Result<int> read_signal(const Value&);        // "SIGTERM", "TERM" or 15
std::string signal_name(int signal);          // "SIGTERM"

// The ranks of a set, in order. `survivors` is known only after the run: an empty list.
std::vector<int> resolve(const RankSet&, int world_size, const std::vector<int>& victims);
Value to_value(const RankSet&);

}  // namespace rankfault
