#include "harness/plan/describe_plan.h"

#include <fmt/format.h>

#include <array>

#include "harness/plan/external_act.h"
#include "harness/scenario/params.h"

namespace rankfault {
namespace {

constexpr std::array<const char*, RF_VERB_COUNT> kVerbs{
    "none", "skip",   "delay", "fail",  "change_argument", "flip",
    "swap", "repeat", "exit",  "raise", "throw",           "outside"};

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
      return act_of(action).words(action);
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

std::optional<rf_verb> verb_from_text(const std::string& text) {
  for (size_t i = 0; i < kVerbs.size(); ++i)
    if (text == kVerbs[i]) return static_cast<rf_verb>(i);
  return std::nullopt;
}

std::string ordinal(int64_t n) {
  const int64_t last = n % 10, last_two = n % 100;
  const char* end = last == 1 && last_two != 11   ? "st"
                    : last == 2 && last_two != 12 ? "nd"
                    : last == 3 && last_two != 13 ? "rd"
                                                  : "th";
  return fmt::format("{}{}", n, end);
}

std::string describe(const Trigger& at) {
  const std::string what = !at.file_op.empty() ? at.file_op
                           : !at.op.empty()    ? at.op
                           : at.mark.empty()   ? "collective"
                                               : "mark";
  std::string out = at.edge == Edge::kAfter ? "after" : "before";
  out += fmt::format(" its {} {}", ordinal(at.nth), what);
  if (!at.mark.empty()) out += fmt::format(" \"{}\"", at.mark);
  if (!at.library.empty()) out += fmt::format(" of {}", at.library);
  if (!at.path.empty()) out += fmt::format(" of {}", at.path);
  out += comm_words(at.comm);
  if (at.step) out += fmt::format(" in step {}", *at.step);
  if (!at.phase.empty()) out += fmt::format(" in phase {}", at.phase);
  if (at.attempt) out += fmt::format(" of attempt {}", *at.attempt);
  if (!at.after_fault.empty()) out += fmt::format(", once {} is done", at.after_fault);
  return out;
}

std::string describe(const Action& action, const Plan&) {
  const std::string words = verb_words(action);
  switch (time_of(action)) {
    case ActTime::kLater:
      return fmt::format("{}: rank {}: {} than action {}", action.fault, action.rank, words, action.after);
    case ActTime::kBeforeTheJob:
      return fmt::format("{}: rank {}: {}", action.fault, action.rank, words);
    case ActTime::kNever:
      return fmt::format("{}: {}", action.fault, words);
    case ActTime::kAtGate:
      break;
  }
  return fmt::format("{}: rank {}: {} {}{}", action.fault, action.rank, words, describe(action.at),
                     times_words(action));
}

}  // namespace rankfault
