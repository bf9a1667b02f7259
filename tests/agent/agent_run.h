// AgentRun: a run directory, a control page, programs started under the preload, and readers of what they
// leave. For the agent's tests: it uses no other part of the harness.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harness/agent/agent_abi.h"

namespace rankfault::test {

// A read-only mapping of a whole file, at the size it had when it was opened.
class Mapped {
 public:
  explicit Mapped(const std::string& path);
  Mapped(Mapped&& other) noexcept;
  ~Mapped();
  size_t size() const { return size_; }
  const char* at(size_t offset) const { return data_ + offset; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

struct Ring {
  explicit Ring(const std::string& path) : file(path) {}
  const rf_header& header() const { return *reinterpret_cast<const rf_header*>(file.at(0)); }
  bool has_body() const { return file.size() >= RF_OFF_HISTORY; }
  const rf_lane& lane(uint32_t i) const {
    return *reinterpret_cast<const rf_lane*>(file.at(RF_OFF_LANES + i * sizeof(rf_lane)));
  }
  rf_state state(uint32_t i) const { return rf_state_of(&lane(i)); }
  const rf_comm& comm(uint32_t i) const {
    return *reinterpret_cast<const rf_comm*>(file.at(RF_OFF_COMMS + i * sizeof(rf_comm)));
  }
  std::string name(uint32_t offset) const { return file.at(RF_OFF_NAMES + offset); }
  // Committed records of a lane, oldest first; torn ones are counted.
  std::vector<rf_record> records(uint32_t lane_index, int* torn = nullptr) const;
  int count(uint16_t op, uint8_t phase) const;  // over all lanes

  Mapped file;
};

struct Actions {
  explicit Actions(const std::string& path) : file(path) {}
  const rf_actions_header& header() const { return *reinterpret_cast<const rf_actions_header*>(file.at(0)); }
  std::vector<rf_action_record> records() const;
  Mapped file;
};

class AgentRun {
 public:
  explicit AgentRun(const std::string& below = "/tmp");
  ~AgentRun();

  std::map<std::string, std::string> env;  // initially the preload, RANK=0, WORLD_SIZE=4
  std::string agent = RF_TEST_AGENT;       // further objects after a colon
  std::string program = RF_TEST_SUBJECT;

  pid_t start(std::vector<std::string> behaviour);  // starts the subject; stdout goes to out()
  int wait(pid_t pid);                              // exit code, or 1000 + signal
  int run(std::vector<std::string> behaviour) { return wait(start(std::move(behaviour))); }
  std::string out() const;

  std::vector<std::string> rings() const { return files(".ring"); }
  std::vector<std::string> actions() const { return files(".actions"); }
  Ring ring() const;  // the only one
  const std::string& folder() const { return folder_; }

  rf_control& control() { return *control_; }
  // Arms a trigger with the usual values: rank 0, any attempt, first match, once, with a question.
  rf_armed& arm(uint16_t op, uint32_t verb);

  // Answers every parked thread until the AgentRun ends.
  using Answer = std::function<rf_answer(rf_gate_slot&)>;
  void answer_with(Answer);
  void stop_answering();
  std::vector<rf_gate_slot> seen() const { return seen_; }  // as they were asked; call after stop_answering

 private:
  std::vector<std::string> files(const std::string& end) const;
  void answer_all(const Answer&);

  std::string folder_;
  rf_control* control_ = nullptr;
  std::thread harness_;
  bool stop_ = false;
  std::vector<rf_gate_slot> seen_;
};

}  // namespace rankfault::test
