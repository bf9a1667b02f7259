// node_messages: what the tool and a node guardian say to each other over their Connection. Each message is
// the payload of one frame (wire_fields.h). A change of any of them changes kNodeProtocol.
//
// All times are those of the node's clock, unless a field says otherwise: the tool converts them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/rank_end.h"
#include "harness/nodes/flight_copy.h"
#include "harness/nodes/wire_fields.h"

namespace rankfault {

inline constexpr uint32_t kNodeProtocol = 2;
// Either side takes the other one for silent after this time without a message. The tool pings twice a
// second.
inline constexpr Duration kSilent{3'000'000'000};

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
  kQuit,  // no payload: the job is over
};

struct HelloMessage {
  uint32_t protocol = kNodeProtocol;  // first in every version
  std::string version;                // of rankfault
  std::string node;                   // as the launcher calls it, else its host name
  static void fields(auto&& field) {
    field(&HelloMessage::protocol, &HelloMessage::version, &HelloMessage::node);
  }
};

struct PingMessage {  // kPing, and kPong as its answer
  Instant sent;       // on the tool's clock
  Instant node_received, node_answered;
  static void fields(auto&& field) {
    field(&PingMessage::sent, &PingMessage::node_received, &PingMessage::node_answered);
  }
};

struct FlightMessage {
  std::string name;  // of the record's file
  FlightChange change;
  static void fields(auto&& field) { field(&FlightMessage::name, &FlightMessage::change); }
};

// What is kept beside a flight record, whole or the bytes that follow `offset`.
struct BesideMessage {
  enum class What : uint8_t { kMaps, kPython } what = What::kMaps;
  std::string name;  // of the record's file
  uint64_t offset = 0;
  std::string bytes;
  static void fields(auto&& field) {
    field(&BesideMessage::what, &BesideMessage::name, &BesideMessage::offset, &BesideMessage::bytes);
  }
};
constexpr auto last_of(BesideMessage::What) { return BesideMessage::What::kPython; }

// What /proc says of a process on its node; see ProcessView.
struct FactsMessage {
  std::string process;  // ProcessId::to_string()
  bool stopped = false, dying = false;
  uint32_t threads = 0;
  std::vector<uint32_t> own_threads;
  std::vector<std::pair<uint32_t, char>> lanes;  // thread states, by the number of the lane
  Instant busy_at;
  static void fields(auto&& field) {
    field(&FactsMessage::process, &FactsMessage::stopped, &FactsMessage::dying, &FactsMessage::threads,
          &FactsMessage::own_threads, &FactsMessage::lanes, &FactsMessage::busy_at);
  }
};

struct EndMessage {  // see RankEnd
  std::string process;
  int rank = -1, attempt = 0;
  Instant time, outlived;
  ExitStatus::Kind kind = ExitStatus::Kind::kUnknown;
  int value = 0;
  EndSource source = EndSource::kUnknown;
  std::string oom_kill_in;
  std::vector<std::string> last_words;
  static void fields(auto&& field) {
    field(&EndMessage::process, &EndMessage::rank, &EndMessage::attempt, &EndMessage::time,
          &EndMessage::outlived, &EndMessage::kind, &EndMessage::value, &EndMessage::source,
          &EndMessage::oom_kill_in, &EndMessage::last_words);
  }
};
constexpr auto last_of(ExitStatus::Kind) { return ExitStatus::Kind::kSignal; }
constexpr auto last_of(EndSource) { return EndSource::kLauncher; }
EndMessage message_of(const RankEnd&);
Result<RankEnd> end_of(const EndMessage&);

// A task that the launcher started on the node began or ended.
struct TaskMessage {
  int pid = 0;
  uint64_t start = 0;
  bool ended = false;
  static void fields(auto&& field) { field(&TaskMessage::pid, &TaskMessage::start, &TaskMessage::ended); }
};

// kPlan: what acts on ranks, as in plan.json; "": nothing does. It is the tool's first message. kLine: a line
// of the node's own journal about a fault.
struct TextMessage {
  std::string text;
  static void fields(auto&& field) { field(&TextMessage::text); }
};

struct NumberMessage {  // kSync, and kSynced as its answer; kSaid, and kHeard when all before it was taken
  uint64_t number = 0;
  static void fields(auto&& field) { field(&NumberMessage::number); }
};

}  // namespace rankfault
