// StepOptions: reads --name=value and switches.
#include "workloads/trainer/step_options.h"

#include <charconv>
#include <functional>
#include <map>

#include "workloads/trainer/options.h"

namespace trainer {

const char* const kStepUsage = R"(limits, chunks, meetings, evaluation, shares:
  --phase-limits=evaluation:30m,small:5m,barrier:5m,checkpoint:30m --size-limits=10000000:900s,100000000:30m
                              beside --collective-timeout; the longer one counts; --no-phase-limits --no-size-limits
  --limits-by=library|watchdog|alarm|async-error   what ends a call that is past its limit; the last two do not
  --chunk-unit=100000000      sums of that many numbers and more are cut into chunks
  --heartbeat=LIMIT           a rank without progress for so long prints its stack and aborts
  --meet-every=N --meet-limit=1s --meet=safe|alone|plain
  --evaluation-dir=DIR        all ranks evaluate, and write predictions; --no-evaluation-fallback --no-evaluation-agreement
  --evaluation-gather=N --evaluation-sum=N   numbers of each rank that an evaluation gathers and sums besides
  --deal=equal|by-speed --deal-every=10 --mark-samples
  --sample-memory=BYTES       that a sample takes while it is computed
  --compute=DURATION:RANK     that rank computes for so long in each step, in CPU time
)";

namespace {

using Setter = std::function<bool(const std::string& value)>;

Setter count_into(auto* target) {
  return [=](const std::string& value) {
    int64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    *target = static_cast<std::remove_pointer_t<decltype(target)>>(number);
    return error == std::errc() && stop == end && number >= 1;
  };
}

Setter duration_into(auto* target) {
  return [=](const std::string& value) {
    const auto duration = parse_duration(value);
    if (duration) *target = *duration;
    return duration && duration->count() > 0;
  };
}

// "150ms:1"
bool read_compute(const std::string& value, StepOptions* options) {
  const size_t colon = value.rfind(':');
  if (colon == std::string::npos) return false;
  const char *rank = value.data() + colon + 1, *end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(rank, end, options->compute_rank);
  return error == std::errc() && stop == end && options->compute_rank >= 0 &&
         duration_into(&options->compute_time)(value.substr(0, colon));
}

template <typename T>
Setter word_into(T* target, std::map<std::string, T> words) {
  return [=](const std::string& value) {
    const auto word = words.find(value);
    if (word != words.end()) *target = word->second;
    return word != words.end();
  };
}

std::map<std::string, Setter> with_a_value(StepOptions* o) {
  return {
      {"--phase-limits", [=](const std::string& value) { return read_phase_limits(value, &o->limits); }},
      {"--size-limits", [=](const std::string& value) { return read_size_limits(value, &o->limits); }},
      {"--limits-by", word_into<LimitsBy>(&o->limits_by, {{"library", LimitsBy::kLibrary},
                                                          {"watchdog", LimitsBy::kWatchdog},
                                                          {"alarm", LimitsBy::kAlarm},
                                                          {"async-error", LimitsBy::kAsyncError}})},
      {"--chunk-unit", count_into(&o->chunk_unit)},
      {"--heartbeat", duration_into(&o->heartbeat)},
      {"--meet-every", count_into(&o->meet_every)},
      {"--meet-limit", duration_into(&o->meet_limit)},
      {"--meet",
       word_into<MeetBy>(&o->meet_by,
                         {{"safe", MeetBy::kSafe}, {"alone", MeetBy::kAlone}, {"plain", MeetBy::kPlain}})},
      {"--evaluation-dir",
       [=](const std::string& value) {
         o->evaluation_dir = value;
         return !value.empty();
       }},
      {"--evaluation-gather", count_into(&o->evaluation_gather)},
      {"--evaluation-sum", count_into(&o->evaluation_sum)},
      {"--deal", word_into<bool>(&o->deal_by_speed, {{"equal", false}, {"by-speed", true}})},
      {"--deal-every", count_into(&o->deal_every)},
      {"--sample-memory", count_into(&o->sample_memory)},
      {"--compute", [=](const std::string& value) { return read_compute(value, o); }},
  };
}

// The switches, each with the flag and the value that it sets.
std::map<std::string, std::pair<bool*, bool>> switches(StepOptions* o) {
  return {
      {"--no-phase-limits", {&o->phase_limits, false}},
      {"--no-size-limits", {&o->size_limits, false}},
      {"--no-evaluation-fallback", {&o->evaluation_fallback, false}},
      {"--no-evaluation-agreement", {&o->evaluation_agreement, false}},
      {"--mark-samples", {&o->mark_samples, true}},
  };
}

}  // namespace

StepOption read_step_option(const std::string& argument, StepOptions* options) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) {
    const auto on_or_off = switches(options);
    const auto found = on_or_off.find(argument);
    if (found != on_or_off.end()) *found->second.first = found->second.second;
    if (found != on_or_off.end()) return StepOption::kRead;
  }
  const auto valued = with_a_value(options);
  const auto found = valued.find(argument.substr(0, equals));
  if (found == valued.end()) return StepOption::kNotOne;
  const bool read = equals != std::string::npos && found->second(argument.substr(equals + 1));
  return read ? StepOption::kRead : StepOption::kBad;
}

LimitPolicy limits_of(const StepOptions& options, Limit collective_timeout) {
  LimitPolicy policy = options.phase_limits ? options.limits : LimitPolicy{};
  policy.sizes = options.size_limits ? options.limits.sizes : std::vector<LimitPolicy::BySize>{};
  if (!policy.train) policy.train = collective_timeout;
  if (options.meet_by == MeetBy::kPlain) policy.barrier = options.meet_limit;
  return policy;
}

}  // namespace trainer
