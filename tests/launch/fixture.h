// fixture: a run of real processes under a real guardian, which must leave nothing behind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/launch/guardian.h"
#include "tests/support/eventually.h"

namespace rankfault::test {

bool is_alive(int pid);                     // not a zombie either
int first_number(const std::string& path);  // a pid that a subject wrote; 0: none
std::vector<std::string> shm_names(const std::string& prefix);
// Processes whose command line or environment names the run.
std::vector<int> processes_naming(const std::string& run_dir);
std::string subject();  // path of launch_subject
std::string bin_dir();

class Scratch {
 public:
  Scratch();
  ~Scratch();
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// launch_tool as a child of the test.
class ToolProcess {
 public:
  ToolProcess(const std::vector<std::string>& args, const std::map<std::string, std::string>& env,
              const std::string& output);
  ~ToolProcess() { kill(); }
  void kill();  // sends SIGKILL and reaps it
  int pid() const { return pid_; }

 private:
  int pid_ = 0;
};

class GuardianTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  Command command(std::vector<std::string> words, const std::string& ready = "") const;
  // Spawns launch_subject and waits until it has started.
  GuardianEvent spawn(const std::vector<std::string>& words);
  // Spawns it and waits until it has set up its behaviour.
  GuardianEvent spawn_ready(const std::vector<std::string>& words);
  std::optional<GuardianEvent> wait_for(GuardianEvent::Kind);
  std::optional<GuardianEvent> end_of(int pid);
  void census();
  std::string undo_text() const;

  Scratch scratch_;
  std::optional<RunDir> run_;
  std::optional<Guardian> guardian_;
  std::vector<GuardianEvent> kept_;
  uint32_t tag_ = 0;
  std::string unique_;  // a stem for names that only this test uses
};

}  // namespace rankfault::test
