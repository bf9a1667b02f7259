#include "harness/plan/describe_plan.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>

#include "harness/scenario/params.h"

namespace rankfault {
namespace {

constexpr std::array<const char*, RF_VERB_COUNT> kVerbs{
    "none", "skip",   "delay", "fail",  "change_argument", "flip",
    "swap", "repeat", "exit",  "raise", "throw",           "outside"};
constexpr std::array<const char*, 18> kOutside{
    "none",      "signal", "continue", "unlink",        "truncate",    "chmod",
    "flip_bit",  "watch",  "start",    "signal_helper", "leave_stale", "kill_launcher",
    "kill_node", "mount",  "limit",    "unlimit",       "load",        "unload"};

std::string ordinal(int64_t n) {
  const int64_t last = n % 10, last_two = n % 100;
  const char* end = last == 1 && last_two != 11   ? "st"
                    : last == 2 && last_two != 12 ? "nd"
                    : last == 3 && last_two != 13 ? "rd"
                                                  : "th";
  return fmt::format("{}{}", n, end);
}

std::string comm_words(const CommSelector& comm) {
  switch (comm.kind) {
    case CommSelector::Kind::kAny:
      return "";
    case CommSelector::Kind::kWorld:
      return " on world";
    case CommSelector::Kind::kSize:
      return fmt::format(" on a communicator of size {}", comm.size);
    case CommSelector::Kind::kNamed:
      return fmt::format(" on \"{}\"", *comm.name);
    case CommSelector::Kind::kOrdinal:
      return fmt::format(" on its {} communicator", ordinal(comm.nth));
  }
  return "";
}

std::string start_words(const Action& action) {
  if (action.path == "late") return fmt::format("started {} late", to_text(action.delay));
  if (action.path == "wrong_rank") return fmt::format("started as rank {}", action.size);
  if (action.path == "wrong_size") return fmt::format("started for a world of {}", action.size);
  if (action.path == "wrong_env") {
    std::string told;
    for (const auto& [name, value] : action.env) told += fmt::format(" {}={}", name, value);
    return "started with" + told;
  }
  return action.path == "twice" ? "started twice" : "never started";
}

const char* resource_word(int resource) { return resource == RLIMIT_NOFILE ? "descriptors" : "memory"; }

std::string outside_words(const Action& action) {
  switch (action.outside) {
    case ExternalAction::kSignal:
      return signal_name(action.signal);
    case ExternalAction::kContinue:
      return fmt::format("SIGCONT {} later", to_text(action.delay));
    case ExternalAction::kLimit:
      return fmt::format("limit its {} to the amount in use plus {}", resource_word(action.mode),
                         action.size);
    case ExternalAction::kMount:
      return fmt::format("started with a file system of {} bytes at {}", action.size, action.path);
    case ExternalAction::kLoad:
      return fmt::format("{} busy processes on each core it may use", action.size);
    case ExternalAction::kUnload:
      return fmt::format("they end {} later", to_text(action.delay));
    case ExternalAction::kUnlimit:
      return fmt::format("restore its {} {} later", resource_word(action.mode), to_text(action.delay));
    case ExternalAction::kUnlink:
      return fmt::format("unlink {}", action.path);
    case ExternalAction::kTruncate:
      return fmt::format("truncate {} to {} bytes", action.path, action.size);
    case ExternalAction::kChmod:
      return fmt::format("chmod {:04o} {}", action.mode, action.path);
    case ExternalAction::kFlipBit:
      return fmt::format("flip bit {} of byte {} of {}", action.mode, action.size, action.path);
    case ExternalAction::kStart:
      return start_words(action);
    case ExternalAction::kSignalHelper:
      return fmt::format("{} to its {} helper named {}", signal_name(action.signal), ordinal(action.size),
                         action.path);
    case ExternalAction::kKillLauncher:
      return signal_name(action.signal) + " to its launcher";
    case ExternalAction::kKillNode:
      return signal_name(action.signal) + " to its launcher and all that it started";
    case ExternalAction::kLeaveStale:
      if (action.size < 0) return "replace " + action.path + " with another file";
      return fmt::format("leave {} bytes of {} under {}", action.size, action.mode, action.path);
    case ExternalAction::kWatch:
    case ExternalAction::kNone:
      break;
  }
  return "nothing";
}

const char* argument_word(int64_t which) {
  constexpr std::array<const char*, 6> kWords{"", "count", "dtype", "root", "reduce_op", "peer"};
  return which >= 1 && which <= 5 ? kWords[static_cast<size_t>(which)] : "argument";
}

std::string verb_words(const Action& action) {
  switch (action.verb) {
    case RF_VERB_SKIP:
      return "skip";
    case RF_VERB_DELAY:
      return fmt::format("delay by {}", to_text(action.delay));
    case RF_VERB_FAIL:
      return action.fail_code ? fmt::format("fail with {}", action.fail_code) : "fail";
    case RF_VERB_ARG:
      return fmt::format("change {} to {}", argument_word(action.mode), action.size);
    case RF_VERB_FLIP:
      return fmt::format("flip bit {}", action.size);
    case RF_VERB_EXIT:
      return fmt::format("exit with {}", action.exit_code);
    case RF_VERB_RAISE:
      return signal_name(action.signal);
    case RF_VERB_OUTSIDE:
    case RF_VERB_NONE:
      return outside_words(action);
    default:
      return to_text(action.verb);
  }
}

std::string times_words(const Action& action) {
  if (action.times == UINT64_MAX) return ", every time";
  const std::string per = action.each_attempt ? " in each attempt" : "";
  return action.times == 1 ? ", once" + per : fmt::format(", {} times{}", action.times, per);
}

}  // namespace

const char* to_text(rf_verb verb) { return verb >= 0 && verb < RF_VERB_COUNT ? kVerbs[verb] : "unknown"; }
const char* to_text(ExternalAction verb) { return kOutside[static_cast<size_t>(verb)]; }

std::optional<rf_verb> verb_from_text(const std::string& text) {
  for (size_t i = 0; i < kVerbs.size(); ++i)
    if (text == kVerbs[i]) return static_cast<rf_verb>(i);
  return std::nullopt;
}

std::optional<ExternalAction> outside_from_text(const std::string& text) {
  for (size_t i = 0; i < kOutside.size(); ++i)
    if (text == kOutside[i]) return static_cast<ExternalAction>(i);
  return std::nullopt;
}

std::string describe(const Trigger& at) {
  const std::string what = !at.file_op.empty() ? at.file_op
                           : !at.op.empty()    ? at.op
                           : at.mark.empty()   ? "collective"
                                               : "mark";
  std::string out = at.edge == Edge::kAfter ? "after" : "before";
  out += fmt::format(" its {} {}", ordinal(at.nth), what);
  if (!at.mark.empty()) out += fmt::format(" \"{}\"", at.mark);
  if (!at.path.empty()) out += fmt::format(" of {}", at.path);
  out += comm_words(at.comm);
  if (at.step) out += fmt::format(" in step {}", *at.step);
  if (!at.phase.empty()) out += fmt::format(" in phase {}", at.phase);
  if (at.attempt) out += fmt::format(" of attempt {}", *at.attempt);
  if (!at.after_fault.empty()) out += fmt::format(", once {} is done", at.after_fault);
  return out;
}

std::string describe(const Action& action, const Plan&) {
  if (is_timed(action.outside))
    return fmt::format("{}: rank {}: {} than action {}", action.fault, action.rank, outside_words(action),
                       action.after);
  if (action.outside == ExternalAction::kWatch)
    return fmt::format("{}: every {} of {} is recorded", action.fault, action.at.file_op, action.at.path);
  if (is_at_start(action.outside))
    return fmt::format("{}: rank {}: {}", action.fault, action.rank, outside_words(action));
  return fmt::format("{}: rank {}: {} {}{}", action.fault, action.rank, verb_words(action),
                     describe(action.at), times_words(action));
}

}  // namespace rankfault
