// RunOptions: what the caller of run_scenario decides about one run.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "harness/live/rank_view.h"
#include "harness/live/watch_options.h"

namespace rankfault {

struct RunOptions {
  std::string run_dir;  // "": a new one
  bool with_agent = true;
  std::string listen;                                // see open_nodes()
  std::string reference_run;                         // directory of the finished reference; "": none
  std::function<void(const std::string&)> progress;  // one plain line each
  const std::atomic<int>* interrupted = nullptr;     // signal number after the user asked to stop
  const WatchOptions* watch = nullptr;               // null: a scenario
  const RankView* view = nullptr;                    // null: nobody follows the ranks
  // Whether the caller has seen enough: the attempt then ends. Asked from time to time; may be empty.
  std::function<bool(const Findings&)> enough;
};

}  // namespace rankfault
