// live_table: what a command shows of the ranks while a job runs: a table that is drawn again in place on a
// terminal, and once more for each SIGUSR1.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/live/rank_view.h"

namespace rankfault {

// Writes to standard error.
class RankDisplay {
 public:
  // `drawn`: whether the table may be drawn. It is drawn only on a terminal that can move its cursor, and not
  // if the tool's log goes there, too.
  explicit RankDisplay(bool drawn);
  ~RankDisplay() { erase(); }
  RankDisplay(const RankDisplay&) = delete;
  RankDisplay& operator=(const RankDisplay&) = delete;

  const RankView* view() const { return &view_; }
  void set_limit(std::optional<Duration> limit) { limit_ = limit; }  // a bar shows the time that is left
  void erase();  // before anything else is written to the terminal
  // For RunOptions::progress: prints a line above the table.
  std::function<void(const std::string&)> progress();

 private:
  void draw(const Timeline&);

  size_t drawn_ = 0;  // rows
  std::optional<Duration> limit_;
  RankView view_;
};

}  // namespace rankfault
