#include "tests/evidence/child.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "harness/base/process_tree.h"

namespace rankfault::test {

Child::Child(const std::function<void()>& prepare, const std::function<void()>& stay) {
  int ready[2];
  if (::pipe(ready) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    prepare();
    (void)!::write(ready[1], "x", 1);
    stay();
    ::_exit(0);
  }
  char byte = 0;
  (void)!::read(ready[0], &byte, 1);
  ::close(ready[0]);
  ::close(ready[1]);
}

Child::Child(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : env) texts.push_back(name + "=" + value);
  std::vector<char*> words, variables;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  for (std::string& text : texts) variables.push_back(text.data());
  words.push_back(nullptr);
  variables.push_back(nullptr);
  // posix_spawn returns after exec, so /proc shows the new environment.
  if (::posix_spawn(&pid_, words[0], nullptr, nullptr, words.data(), variables.data()) != 0) pid_ = -1;
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

uint64_t Child::start() const {
  const auto stat = proc_stat(pid_);
  return stat ? stat->start : 0;
}

char Child::state() const {
  const auto stat = proc_stat(pid_);
  return stat ? stat->state : 0;
}

void Child::wait_for_state(char wanted) const {
  while (state() != wanted && state() != 0) {
    const timespec moment{0, 1'000'000};
    ::nanosleep(&moment, nullptr);
  }
}

}  // namespace rankfault::test
