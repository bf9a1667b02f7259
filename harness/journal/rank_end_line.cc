#include "harness/journal/rank_end_line.h"

namespace rankfault {
namespace {

const char* kind_word(const ExitStatus& status) {
  switch (status.kind) {
    case ExitStatus::Kind::kCode:
      return "exit";
    case ExitStatus::Kind::kSignal:
      return "signal";
    case ExitStatus::Kind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace

events::RankEnd line_of(const RankEnd& end) {
  return {.process = end.process,
          .rank = end.rank,
          .attempt = end.attempt,
          .time = end.time,
          .kind = kind_word(end.status),
          .value = end.status.value,
          .source = to_text(end.source),
          .last_words = end.last_words,
          .oom_kill_in = end.oom_kill_in};
}

}  // namespace rankfault
