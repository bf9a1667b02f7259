// live_table: a table on a terminal that is drawn again in place: of the ranks of a job while it runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/live/rank_view.h"

namespace rankfault {

// Writes to standard error. erase() before anything else is written to the terminal.
class LiveTable {
 public:
  // Null when standard error is no terminal, or when the terminal cannot move its cursor.
  static std::unique_ptr<LiveTable> make();
  ~LiveTable();

  // `limit`: after so long the job is ended; nothing: it has no limit. With one, a bar shows the time left.
  void draw(const Timeline&, std::optional<Duration> limit);
  void erase();

 private:
  LiveTable() = default;
  size_t drawn_ = 0;  // rows
};

// What a command shows of the ranks while a job runs: the table on a terminal, and once more for each
// SIGUSR1.
class RankDisplay {
 public:
  // `drawn`: whether the table may be drawn on the terminal. It is not if the tool's log goes there, too.
  explicit RankDisplay(bool drawn);
  RankDisplay(const RankDisplay&) = delete;
  RankDisplay& operator=(const RankDisplay&) = delete;
  const RankView* view() const { return &view_; }
  void set_limit(std::optional<Duration> limit) { limit_ = limit; }
  void erase();  // before anything is written to the terminal

 private:
  std::unique_ptr<LiveTable> table_;
  std::optional<Duration> limit_;
  RankView view_;
};

// The line above the table: how long the job runs, and a bar of the time that its limit leaves.
std::string progress_line(int ranks, Duration runs_for, std::optional<Duration> limit, size_t columns);

}  // namespace rankfault
