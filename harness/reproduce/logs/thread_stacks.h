// thread_stacks: the threads of one process in a dump of stacks, and which of them waits in a communication
// call.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/reproduce/logs/clue.h"

namespace rankfault {

class ThreadStacks {
 public:
  explicit ThreadStacks(Clue process) : process_(std::move(process)) {}

  void begin_thread(bool is_main);
  // The next frame, further out than the one before.
  void add_frame(std::string_view function, std::string_view file, std::string_view line);
  bool has_threads() const { return !threads_.empty(); }
  // The thread that is in a communication call, else the main thread with `op` "".
  Clue clue() &&;

 private:
  struct Thread {
    bool is_main = false;
    std::string op;  // of the innermost frame that is a call
    std::vector<std::string> frames;
  };
  Clue process_;
  std::vector<Thread> threads_;
};

}  // namespace rankfault
