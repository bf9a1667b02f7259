// child: processes of the test's own to look at, ended with the object.
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
  // A copy of this process that says when it is ready by returning from `prepare`, and then runs `stay`.
  Child(const std::function<void()>& prepare, const std::function<void()>& stay);
  // A program with this environment and nothing else.
  Child(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int pid() const { return pid_; }
  uint64_t start() const;
  char state() const;
  // Until its main thread is in this state: 'S', 'T'.
  void wait_for_state(char wanted) const;

 private:
  pid_t pid_ = -1;
};

}  // namespace rankfault::test
