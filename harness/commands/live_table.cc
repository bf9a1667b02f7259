#include "harness/commands/live_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "harness/base/log.h"
#include "harness/base/printable.h"
#include "harness/commands/terminal.h"
#include "reports/one_screen.h"
#include "reports/rank_table.h"

namespace rankfault {
namespace {

std::atomic<int> g_status_asked{0};
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<int>* catch_status_signal() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_status_asked = 1; };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
  return &g_status_asked;
}

// How long the job runs, and a bar of the time that its limit leaves.
std::string progress_line(int ranks, Duration runs_for, std::optional<Duration> limit, size_t columns) {
  const std::string who =
      fmt::format("{} rank{} for {}", ranks, ranks == 1 ? "" : "s", seconds_text(runs_for));
  if (!limit || *limit <= Duration::zero()) return who;
  const Duration left = std::max(Duration::zero(), *limit - runs_for);
  const std::string behind = fmt::format("] the limit ends the job in {}", seconds_text(left));
  const size_t taken = who.size() + behind.size() + 2;
  const size_t width = std::min<size_t>(columns > taken ? columns - taken : 0, 30);
  if (width < 5) return who;
  const double share =
      std::min(1.0, static_cast<double>(runs_for.count()) / static_cast<double>(limit->count()));
  const auto full = static_cast<size_t>(share * static_cast<double>(width));
  return who + " [" + std::string(full, '=') + std::string(width - full, ' ') + behind;
}

}  // namespace

RankDisplay::RankDisplay(bool drawn) {
  constexpr Duration kDrawEvery = 500ms;
  const bool draws = drawn && !logs_to_terminal() && prepare_terminal();
  view_.every = draws ? kDrawEvery : Duration::zero();
  view_.asked = catch_status_signal();
  view_.show = [this, draws](const Timeline& timeline, bool asked) {
    if (asked) {
      erase();
      fmt::print(stderr, "{}\n{}", progress_line(timeline.world_size, timeline.look - timeline.begin, {}, 80),
                 inert_text(rank_table(rank_places(timeline, timeline.look), 0, SIZE_MAX)));
    }
    if (draws) draw(timeline);
  };
}

void RankDisplay::draw(const Timeline& timeline) {
  const Screen screen = screen_of(STDERR_FILENO).value_or(Screen{});
  const size_t rows = screen.rows > 6 ? screen.rows / 2 : 2;
  const std::string text =
      inert_text(progress_line(timeline.world_size, timeline.look - timeline.begin, limit_, screen.columns) +
                 "\n" + rank_table(rank_places(timeline, timeline.look), screen.columns, rows));
  erase();
  if (rows_of(text, screen.columns) >= screen.rows) return;  // it would scroll, and could not be erased
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = rows_of(text, screen.columns);
}

void RankDisplay::erase() {
  if (drawn_ != 0) clear_rows_above(drawn_);
  drawn_ = 0;
}

std::function<void(const std::string&)> RankDisplay::progress() {
  return [this](const std::string& line) {
    erase();
    fmt::print(stderr, "{}\n", line);
  };
}

}  // namespace rankfault
