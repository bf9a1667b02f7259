// Evidence: what one process of a hung job does now: its threads with their stacks, and its sockets. Plain
// data for users; it never proves anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rankfault {

struct Frame {
  std::string function;  // "" unknown
  std::string module;    // base name of its file
  std::string where;     // "step.cc:12", else "module+0x12"
  bool operator==(const Frame&) const = default;
};

struct PythonFrame {
  std::string function, where;  // where: "train.py:12"
  bool library = false;         // from an installed package, or from Python itself
  bool operator==(const PythonFrame&) const = default;
};

struct ThreadEvidence {
  int tid = 0;
  std::string name;
  char state = 0;                   // R S D T t Z, from the kernel
  std::string kernel;               // the kernel function that it waits in: wchan; "" unknown
  std::string system_call;          // "futex", "poll"; "" none or unknown
  std::vector<Frame> frames;        // innermost first
  std::vector<PythonFrame> python;  // innermost first
  bool operator==(const ThreadEvidence&) const = default;
};

struct SocketEvidence {
  std::string local, peer, state;  // "127.0.0.1:4711"; "established"
  uint64_t send_queue = 0, receive_queue = 0;
  bool operator==(const SocketEvidence&) const = default;
};

struct RankEvidence {
  int rank = -1;  // -1: a process without a rank
  int pid = 0;
  std::string command;
  Duration cpu_time{};                  // CPU time used so far, with its helpers; 0 unknown
  std::vector<ThreadEvidence> threads;  // the main thread first
  std::vector<SocketEvidence> sockets;
  std::string no_stacks;  // why native stacks are missing or incomplete; "": they are complete
  std::string no_python;  // how to get Python frames; "": they exist, or it is not a Python process
  bool operator==(const RankEvidence&) const = default;
};

Json to_json(const RankEvidence&);
Result<RankEvidence> evidence_from_json(const Json&);

}  // namespace rankfault
