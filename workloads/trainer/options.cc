// Options: reads --name=value flags, and RANK and WORLD_SIZE from the environment.
#include "workloads/trainer/options.h"

#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "workloads/trainer/collectives.h"

namespace trainer {

const char* const kUsage =
    R"(usage: RANK=r WORLD_SIZE=n trainer --store=DIR [options]
       RANK=r WORLD_SIZE=n trainer_nccl --store=DIR [options]
       mpirun -np n trainer_mpi [options]
Data-parallel training of a small network over Gloo, NCCL or MPI; the same weights, bit for bit, for any world size.

  --store=DIR                 rendezvous directory, new for each attempt (needed with 2 ranks or more)
  --steps=60 --batch=32 --hidden=32 --buckets=3 --seed=1
  --float                     float sums instead of order-free ones
  --samples=N                 the data set ends there (0: never)
  --end-of-data=flag|drop-last|agree|join|leave   what a rank does that has no batch while others have
  --grid=TxPxD                sum along three axes; --node-size=N: within nodes, and over their leaders
  --evaluate-every=N --progress-check=N
  --checkpoint-dir=DIR --checkpoint-copies=DIR --checkpoint-every=10
  --collective-timeout=30s    or 'none'; --join-timeout=30s: for all to come and connect (not MPI)
  --stop-on-sigterm [--sigterm-once]   checkpoint on SIGTERM, and leave together
  --recoveries=N --meet-again=10s      after a failed collective the ranks meet again, N times (Gloo, NCCL)
  --recover-by=meeting|shrink|revoke   with a new communicator, or the old one without the lost (NCCL 2.27, 2.29)
  --tell-failures (--no-tell-failures) in the store: no other rank learns of an abort of NCCL
  --end-by-abort                       of NCCL's communicators: a destroy waits for what its proxy has to send
  --preflight (--no-preflight)         check host and job before the first step
  --micro-batch=N                      samples at a time
defences, all on; each switch turns off one:
  --error-flag=always|when-failed|never (--no-error-flag: never)
  --no-sequence-check --no-error-flag --no-stop-on-error --no-fsync --no-rename --no-checksum --no-resume
  --no-write-on --no-fallback --no-halving
mistakes, all off:
  --bad-sample=STEP:RANK --swallow-local-errors --broadcast-on-rank-0-only --leaders-call-world
  --axes-reversed-on=RANK,RANK... --jumped-step=STEP:RANK
  --fits=SAMPLES:RANK   more samples at a time do not fit that rank's memory
exit codes: 0 ok, 3 a collective failed, 4 a mismatch between ranks, 5 a local failure, 6 stopped on request,
  8 left behind by the others, 9 preflight, 64 usage
)";

namespace {

bool read_number(const std::string& text, int64_t least, int64_t most, int64_t* number) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && *number >= least && *number <= most;
}

using Setter = std::function<bool(const std::string& value)>;

Setter number_into(auto* target, int64_t least, int64_t most) {
  return [=](const std::string& value) {
    int64_t number = 0;
    if (!read_number(value, least, most, &number)) return false;
    *target = static_cast<std::remove_pointer_t<decltype(target)>>(number);
    return true;
  };
}

Setter text_into(std::string* target) {
  return [=](const std::string& value) {
    *target = value;
    return !value.empty();
  };
}

Setter timeout_into(std::optional<std::chrono::milliseconds>* target) {
  return [=](const std::string& value) {
    *target = parse_duration(value);
    return *target ? target->value().count() > 0 : value == "none";
  };
}

Setter duration_into(std::chrono::milliseconds* target) {
  return [=](const std::string& value) {
    const auto duration = parse_duration(value);
    if (duration) *target = *duration;
    return duration.has_value();
  };
}

Setter at_into(At* target) {
  return [=](const std::string& value) {
    const size_t colon = value.find(':');
    int64_t rank = 0;
    if (colon == std::string::npos || !read_number(value.substr(0, colon), 1, INT64_MAX, &target->step))
      return false;
    if (!read_number(value.substr(colon + 1), 0, 1 << 20, &rank)) return false;
    target->rank = static_cast<int>(rank);
    return true;
  };
}

// "4x2x2".
Setter grid_into(std::array<int, 3>* target) {
  return [=](const std::string& value) {
    size_t begin = 0;
    for (size_t axis = 0; axis < target->size(); ++axis) {
      const size_t end = axis + 1 == target->size() ? value.size() : value.find('x', begin);
      int64_t number = 0;
      if (end == std::string::npos || !read_number(value.substr(begin, end - begin), 1, 1 << 20, &number))
        return false;
      (*target)[axis] = static_cast<int>(number);
      begin = end + 1;
    }
    return true;
  };
}

// "1,2".
Setter ranks_into(std::vector<int>* target) {
  return [=](const std::string& value) {
    target->clear();
    std::istringstream words(value);
    for (std::string word; std::getline(words, word, ',');) {
      int64_t rank = 0;
      if (!read_number(word, 0, 1 << 20, &rank)) return false;
      target->push_back(static_cast<int>(rank));
    }
    return !target->empty();
  };
}

template <typename T>
Setter word_into(T* target, std::map<std::string, T> words) {
  return [=](const std::string& value) {
    const auto word = words.find(value);
    if (word == words.end()) return false;
    *target = word->second;
    return true;
  };
}

std::map<std::string, Setter> flags_with_a_value(Options* options) {
  return {
      {"--store", text_into(&options->store)},
      {"--steps", number_into(&options->steps, 0, 1'000'000'000)},
      {"--batch", number_into(&options->batch, 1, 1'000'000)},
      {"--hidden", number_into(&options->hidden, 1, 100'000)},
      {"--buckets", number_into(&options->buckets, 1, 1'000)},
      {"--seed", number_into(&options->seed, 0, INT64_MAX)},
      {"--samples", number_into(&options->samples, 0, INT64_MAX)},
      {"--end-of-data", word_into<EndOfData>(&options->end_of_data, {{"flag", EndOfData::kFlag},
                                                                     {"drop-last", EndOfData::kDropLast},
                                                                     {"agree", EndOfData::kAgree},
                                                                     {"join", EndOfData::kJoin},
                                                                     {"leave", EndOfData::kLeave}})},
      {"--error-flag", word_into<ErrorFlag>(&options->error_flag, {{"always", ErrorFlag::kAlways},
                                                                   {"when-failed", ErrorFlag::kWhenFailed},
                                                                   {"never", ErrorFlag::kNever}})},
      {"--grid", grid_into(&options->grid)},
      {"--node-size", number_into(&options->node_size, 1, 1 << 20)},
      {"--evaluate-every", number_into(&options->evaluate_every, 1, 1'000'000'000)},
      {"--progress-check", number_into(&options->progress_check_every, 1, 1'000'000'000)},
      {"--bad-sample", at_into(&options->bad_sample)},
      {"--jumped-step", at_into(&options->jumped_step)},
      {"--axes-reversed-on", ranks_into(&options->axes_reversed_on)},
      {"--checkpoint-dir", text_into(&options->checkpoint_dir)},
      {"--checkpoint-every", number_into(&options->checkpoint_every, 1, 1'000'000'000)},
      {"--checkpoint-copies", text_into(&options->checkpoint_copies)},
      {"--recoveries", number_into(&options->recoveries, 0, 1'000)},
      {"--meet-again", duration_into(&options->meet_again)},
      {"--recover-by", word_into<RecoverBy>(&options->recover_by, {{"meeting", RecoverBy::kMeeting},
                                                                   {"shrink", RecoverBy::kShrink},
                                                                   {"revoke", RecoverBy::kRevoke}})},
      {"--micro-batch", number_into(&options->micro_batch, 1, 1'000'000)},
      {"--fits", at_into(&options->fits)},
      {"--collective-timeout", timeout_into(&options->collective_timeout)},
      {"--join-timeout", timeout_into(&options->join_timeout)},
  };
}

std::map<std::string, bool*> switches_on(Options* options) {
  return {
      {"--float", &options->float_sums},
      {"--stop-on-sigterm", &options->stop_on_sigterm},
      {"--sigterm-once", &options->sigterm_once},
      {"--preflight", &options->preflight},
      {"--tell-failures", &options->tell_failures},
      {"--end-by-abort", &options->end_by_abort},
      {"--swallow-local-errors", &options->swallow_local_errors},
      {"--broadcast-on-rank-0-only", &options->broadcast_on_rank_0_only},
      {"--leaders-call-world", &options->leaders_call_world},
  };
}

std::map<std::string, bool*> switches_off(Options* options) {
  return {
      {"--no-sequence-check", &options->sequence_check},
      {"--no-stop-on-error", &options->stop_on_error},
      {"--no-fsync", &options->fsync},
      {"--no-rename", &options->rename},
      {"--no-checksum", &options->checksum},
      {"--no-resume", &options->resume},
      {"--no-write-on", &options->write_on},
      {"--no-fallback", &options->fallback},
      {"--no-halving", &options->halve_batches},
      {"--no-preflight", &options->preflight},
      {"--no-tell-failures", &options->tell_failures},
  };
}

std::string read_environment(Options* options) {
  if (launcher_tells_rank())
    return options->recoveries > 0 ? "--recoveries: the ranks of an MPI job cannot meet again here" : "";
  int64_t number = 0;
  const char* size = std::getenv("WORLD_SIZE");
  const char* rank = std::getenv("RANK");
  if (size && !read_number(size, 1, 1 << 20, &number)) return "WORLD_SIZE is not a number of ranks";
  if (size) options->world_size = static_cast<int>(number);
  if (rank && !read_number(rank, 0, options->world_size - 1, &number)) {
    return "RANK is not below WORLD_SIZE";
  }
  if (rank) options->rank = static_cast<int>(number);
  if (options->world_size > 1 && !rank) return "WORLD_SIZE is set and RANK is not";
  if (options->world_size > 1 && options->store.empty()) return "--store=DIR is missing";
  return "";
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(const std::string& text) {
  const size_t unit_at = text.find_first_not_of("0123456789");
  int64_t number = 0;
  if (unit_at == std::string::npos || !read_number(text.substr(0, unit_at), 0, 1'000'000'000, &number)) {
    return std::nullopt;
  }
  const std::string unit = text.substr(unit_at);
  if (unit == "ms") return std::chrono::milliseconds(number);
  if (unit == "s") return std::chrono::seconds(number);
  if (unit == "m") return std::chrono::minutes(number);
  return std::nullopt;
}

ParsedOptions parse_options(const std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  const auto valued = flags_with_a_value(&parsed.options);
  const auto off = switches_off(&parsed.options), on = switches_on(&parsed.options);
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    if (argument == "--help") {
      parsed.help = true;
    } else if (argument == "--no-error-flag") {
      parsed.options.error_flag = ErrorFlag::kNever;
    } else if (!has_value && on.count(name)) {
      *on.at(name) = true;
    } else if (!has_value && off.count(name)) {
      *off.at(name) = false;
    } else if (const StepOption step = read_step_option(argument, &parsed.options.step);
               step != StepOption::kNotOne) {
      if (step == StepOption::kRead) continue;
      parsed.error = "bad value: " + argument;
      return parsed;
    } else if (!valued.count(name)) {
      parsed.error = "unknown option " + argument;
      return parsed;
    } else if (!has_value || !valued.at(name)(argument.substr(equals + 1))) {
      parsed.error = "bad value: " + argument;
      return parsed;
    }
  }
  parsed.error = read_environment(&parsed.options);
  return parsed;
}

}  // namespace trainer
