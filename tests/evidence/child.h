// child: processes that a test starts and examines. They end with the object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rankfault::test {

class Child {
 public:
  // A copy of this process, which is ready when `prepare` returns, and then runs `stay`.
  Child(const std::function<void()>& prepare, const std::function<void()>& stay);
  // A program with exactly this environment.
  Child(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int pid() const { return pid_; }
  uint64_t start() const;
  char state() const;
  // Waits until its main thread is in this state: 'S', 'T'.
  void wait_for_state(char wanted) const;

 private:
  pid_t pid_ = -1;
};

}  // namespace rankfault::test
