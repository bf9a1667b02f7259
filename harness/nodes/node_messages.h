// node_messages: what the tool and a node guardian say to each other over their Connection. Each message is
// the payload of one frame. A change of any of them changes kNodeProtocol.
//
// All times are those of the node's clock, unless a field says otherwise: the tool converts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/rank_end.h"
#include "harness/base/result.h"
#include "harness/nodes/flight_copy.h"
#include "harness/nodes/wire.h"

namespace rankfault {

inline constexpr uint32_t kNodeProtocol = 1;

enum class NodeMessage : uint16_t {
  kHello = 1,  // node -> tool
  kPong,
  kFlight,
  kBeside,
  kFacts,
  kEnd,
  kTask,
  kSynced,
  kSaid,
  kLine,
  kPing = 64,  // tool -> node
  kSync,
  kHeard,
  kPlan,
  kQuit,
};

struct HelloMessage {
  uint32_t protocol = kNodeProtocol;
  std::string version;  // of rankfault
  std::string node;     // as the launcher calls it, else its host name
  std::string pack() const;
  static Result<HelloMessage> unpack(const std::string& payload);
};

struct PingMessage {  // the tool's; the answer has the same first two fields
  uint64_t number = 0;
  Instant sent;  // on the tool's clock
  Instant node_received, node_answered;
  std::string pack() const;
  static Result<PingMessage> unpack(const std::string& payload);
};

struct FlightMessage {
  std::string name;  // of the record's file
  FlightChange change;
  std::string pack() const;
  static Result<FlightMessage> unpack(const std::string& payload);
};

// What is kept beside a flight record, whole or the bytes that follow `offset`.
struct BesideMessage {
  enum class What : uint8_t { kMaps, kPython } what = What::kMaps;
  std::string name;  // of the record's file
  uint64_t offset = 0;
  std::string bytes;
  std::string pack() const;
  static Result<BesideMessage> unpack(const std::string& payload);
};

// What /proc says of a process on its node; see ProcessView.
struct FactsMessage {
  std::string process;  // ProcessId::to_string()
  bool stopped = false, dying = false;
  uint32_t threads = 0;
  std::vector<uint32_t> own_threads;
  std::vector<std::pair<uint32_t, char>> lanes;  // thread states, by the number of the lane
  Instant busy_at;
  std::string pack() const;
  static Result<FactsMessage> unpack(const std::string& payload);
};

struct EndMessage {
  RankEnd end;
  std::string pack() const;
  static Result<EndMessage> unpack(const std::string& payload);
};

// A task that the launcher started on the node, or its end.
struct TaskMessage {
  int task = -1;  // its number in the step, as the launcher counts; -1: not known (a daemon of mpirun)
  int pid = 0;
  uint64_t start = 0;
  std::string program;
  bool ended = false;
  int wait_status = 0;
  std::string pack() const;
  static Result<TaskMessage> unpack(const std::string& payload);
};

// kPlan: what acts on ranks, as in plan.json; "": nothing does. It is the tool's first message. kLine: a line
// of the node's own journal about a fault.
struct TextMessage {
  std::string text;
  std::string pack() const;
  static Result<TextMessage> unpack(const std::string& payload);
};

struct NumberMessage {  // kSync, and kSynced as its answer; kSaid, and kHeard when all before it was taken
  uint64_t number = 0;
  std::string pack() const;
  static Result<NumberMessage> unpack(const std::string& payload);
};

}  // namespace rankfault
